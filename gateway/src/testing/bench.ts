import assert from 'node:assert/strict';
import { after } from 'node:test';
import { API_SECURITY_HEADERS } from '@gatehouse/http';
import type { Database } from '@gatehouse/store';
import { createTestDatabase } from '@gatehouse/store/testing';
import type { Settings } from '../gateway.ts';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { type MockProvider, startMockProvider } from './mock-provider.ts';
import { addRoute, type IssuedKey, issueKey, startTestGateway, type TestGateway } from './test-gateway.ts';

/** The means of most tests of the gateway: a database, a provider behind `mock/model`, a gateway and a key. */
export interface Bench extends AsyncDisposable {
  readonly database: Database;
  /** The same database with every right. */
  readonly owner: Database;
  readonly provider: MockProvider;
  readonly gateway: TestGateway;
  readonly key: IssuedKey;
  /** The one record of this answer. */
  recordOf(response: Response): Promise<FinishedRequest>;
  /** Asserts that the one record of this answer has these values, and returns it. */
  assertRecord(response: Response, expected: Partial<FinishedRequest>): Promise<FinishedRequest>;
}

/** The settings replace those of a test. */
export async function startBench(settings?: Settings): Promise<Bench> {
  const stack = new AsyncDisposableStack();
  try {
    const { database, owner } = stack.use(await createTestDatabase());
    const provider = stack.use(await startMockProvider());
    const gateway = stack.use(await startTestGateway(database, settings && { settings }));
    const key = await issueKey(database);
    await addRoute(database, { baseUrl: provider.baseUrl });
    const recordOf = async (response: Response) => {
      const record = await gateway.journal.recordOf(requestIdOf(response));
      const same = gateway.journal.records.filter((one) => one.requestId === record.requestId);
      assert.equal(same.length, 1);
      return record;
    };
    return {
      database,
      owner,
      provider,
      gateway,
      key,
      recordOf,
      async assertRecord(response, expected) {
        const record = await recordOf(response);
        assert.deepEqual(record, { ...record, ...expected });
        return record;
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function requestIdOf(response: Response): string {
  const id = response.headers.get('x-request-id') ?? '';
  assert.match(id, UUID);
  return id;
}

/** Checks that the answer is a refusal in exactly OpenAI's form, and returns its sentence. */
export async function assertError(
  response: Response,
  expected: {
    readonly status: number;
    readonly code: string;
    readonly type: string;
    readonly param?: string;
  },
): Promise<string> {
  assert.equal(response.status, expected.status);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  for (const [name, value] of Object.entries(API_SECURITY_HEADERS))
    assert.equal(response.headers.get(name), value);
  requestIdOf(response);
  const { error, ...others } = (await response.json()) as { error: Record<string, unknown> };
  assert.deepEqual(others, {});
  const { message, ...members } = error;
  assert.deepEqual(members, { type: expected.type, param: expected.param ?? null, code: expected.code });
  assert.ok(typeof message === 'string' && message.length > 0);
  assert.doesNotMatch(message, /sk_svc_|select |pg_|\bat \/|undefined|\[object/i);
  return message;
}

export function rateHeadersOf(response: Response): Record<string, string | null> {
  const names = ['limit', 'remaining', 'reset'];
  return Object.fromEntries(
    names.map((name) => [name, response.headers.get(`x-ratelimit-${name}-requests`)]),
  );
}

/** A bench for all tests of the calling file, which is closed after the last of them. */
export async function useBench(settings?: Settings): Promise<Bench> {
  const bench = await startBench(settings);
  after(() => bench[Symbol.asyncDispose]());
  return bench;
}
