import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { requestIdOf, useBench } from '../testing/bench.ts';
import {
  type Asked,
  completion,
  json,
  type MockProvider,
  type Script,
  startMockProvider,
} from '../testing/mock-provider.ts';
import { addRoute, startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

export const USAGE = { prompt: 11, completion: 5 };
export const served: Script = json(completion('Hello there.', USAGE));
export const failing: Script = json({ error: { message: 'overloaded' } }, 500);

/** A platform key for each variable, by which tests tell who was called. */
export const keyOf = (variable: string) => `sk-${variable.toLowerCase()}-0123456789abcdef`;

/** Two providers, and a gateway that has a key for every variable. */
export async function useRouting() {
  const bench = await useBench();
  const first = await startMockProvider(served);
  const second = await startMockProvider(served);
  const gateway: TestGateway = await startTestGateway(bench.database, {
    platformKey: keyOf,
    random: () => 0.5,
  });
  after(async () => {
    await gateway[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  });
  let routes = 0;
  return {
    ...bench,
    gateway,
    first,
    second,
    /** A route whose targets are the two providers under names of its own, the first before the second. */
    async addTwo(options: Omit<Parameters<typeof addRoute>[1], 'id' | 'targets'> = {}): Promise<string> {
      routes += 1;
      const id = `routing/${routes}`;
      first.script = served;
      second.script = served;
      await addRoute(bench.database, {
        id,
        timeoutMs: 41_000,
        maxOutputTokens: 100,
        ...options,
        targets: [
          { provider: `${id} first`, baseUrl: first.baseUrl, apiKeyEnv: 'FIRST', priority: 1 },
          { provider: `${id} second`, baseUrl: second.baseUrl, apiKeyEnv: 'SECOND', priority: 2 },
        ],
      });
      return id;
    },
    /** A route with one target, whose provider has these credentials. */
    async addPool(names: readonly string[], options: Partial<Parameters<typeof addRoute>[1]> = {}) {
      routes += 1;
      const id = `routing/${routes}`;
      first.script = served;
      await addRoute(bench.database, {
        id,
        baseUrl: first.baseUrl,
        maxOutputTokens: 100,
        credentials: names.map((name) => ({ name, apiKeyEnv: name.toUpperCase() })),
        ...options,
      });
      return id;
    },
    async recordOf(response: Response): Promise<FinishedRequest> {
      return gateway.journal.recordOf(requestIdOf(response));
    },
  };
}

/** Runs this, and returns what the provider was asked meanwhile. */
export async function askedDuring(provider: MockProvider, run: () => Promise<unknown>): Promise<Asked[]> {
  const before = provider.asked.length;
  await run();
  return provider.asked.slice(before);
}

/** The credential of a request to a provider. */
export function credentialOf({ headers }: Asked): string {
  const [, name] = /^Bearer sk-(.*)-0123456789abcdef$/.exec(headers.authorization ?? '') ?? [];
  assert.ok(name, headers.authorization);
  return name;
}

export function endings({ attempts }: FinishedRequest): string[] {
  return attempts.map(({ credential, ending }) => `${credential} ${ending}`);
}
