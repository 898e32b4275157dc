import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Endpoint, endpoints, pathParameters } from '@gatehouse/contract';
import { type ApiRequest, type CallName, createClient, requestFor } from '@gatehouse/sdk';

// The SDK's calls beside the contract that they are generated from.

const all: readonly Endpoint[] = endpoints;

/** Text that every place must encode. */
const HOSTILE = 'a/b?c=d&e #%+"\'\\ \u{1f600}é';

/** Every input of an endpoint, each with its own text. */
function inputOf(endpoint: Endpoint): Record<string, string> {
  const names = [
    ...pathParameters(endpoint.path),
    ...Object.keys(endpoint.query.shape),
    ...Object.keys(endpoint.body?.shape ?? {}),
  ];
  return {
    ...Object.fromEntries(names.map((name) => [name, `${name}:${HOSTILE}`])),
    ...Object.fromEntries(
      Object.keys(endpoint.headers.shape).map((name) => [name.replaceAll('-', '_'), name]),
    ),
  };
}

/** The request of an endpoint with these inputs, read from the contract alone. */
function expectedRequest(endpoint: Endpoint, input: Record<string, string>): Omit<ApiRequest, 'call'> {
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, input[name] ?? '']));
  return {
    method: endpoint.method,
    path: endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input[name] ?? '')),
    query: pick(Object.keys(endpoint.query.shape)),
    headers: Object.fromEntries(
      Object.keys(endpoint.headers.shape).map((name) => [
        name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase()),
        name,
      ]),
    ),
    body: endpoint.body && pick(Object.keys(endpoint.body.shape)),
  };
}

describe('the calls of the SDK', () => {
  it('are the endpoints of the contract, by section', () => {
    const client = createClient({ baseUrl: 'http://localhost/api' });
    const sections = Object.entries(client).filter(([, value]) => typeof value === 'object');
    assert.deepEqual(
      sections
        .flatMap(([section, methods]) => Object.keys(methods).map((name) => `${section}.${name}`))
        .sort(),
      all.map(({ section, name }) => `${section}.${name}`).sort(),
    );
  });

  for (const endpoint of all) {
    it(`${endpoint.name} puts every input where the contract has it, and sends that`, async () => {
      const input = inputOf(endpoint);
      const { call, ...request } = requestFor(endpoint.name as CallName, input as never);
      assert.deepEqual(request, expectedRequest(endpoint, input));
      assert.equal(call.needsSession, endpoint.access === 'session');
      assert.equal(call.setsCookies, endpoint.setsCookies);
      assert.deepEqual(call.exports, endpoint.exports);

      const sent: [string, RequestInit][] = [];
      const client = createClient({
        baseUrl: 'https://gatehouse.example/api/',
        fetch: async (target, init) => {
          sent.push([String(target), init as RequestInit]);
          const reply = Object.fromEntries(call.reply.map((name) => [name, name]));
          return Response.json(reply, { status: endpoint.status });
        },
      });
      const section = client[endpoint.section] as unknown as Record<
        string,
        (input: object) => Promise<object>
      >;
      assert.deepEqual(Object.keys((await section[endpoint.name]?.(input)) ?? {}), call.reply);
      assert.equal(sent.length, 1);
      const [target, init] = sent[0] as [string, RequestInit];
      const url = new URL(target);
      assert.equal(url.origin + url.pathname, `https://gatehouse.example/api${request.path}`);
      assert.deepEqual(Object.fromEntries(url.searchParams), request.query);
      assert.equal(init.method, endpoint.method);
      assert.deepEqual(init.body && JSON.parse(String(init.body)), request.body);
      assert.equal(init.credentials, 'same-origin');
    });
  }

  it('reject an input that the endpoint does not have', () => {
    assert.throws(() => requestFor('listKeys', { limit: 1 } as never), {
      name: 'TypeError',
      message: 'listKeys takes no input, and not "limit".',
    });
    assert.throws(
      () => requestFor('revokeKey', { key_id: 'a', keyId: 'a' } as never),
      /takes only key_id, and not "keyId"/,
    );
    assert.throws(() => requestFor('getSummary', { ['__proto__']: 'a' } as never), /and not "__proto__"/);
  });

  it('reject a path that a URL would read as another', () => {
    for (const provider of ['', '.', '..', '\ud800', undefined, 7])
      assert.throws(() => requestFor('revokeVaultKey', { provider } as never), TypeError);
    assert.equal(requestFor('revokeVaultKey', { provider: '../x' }).path, '/vault/keys/..%2Fx');
  });

  it('reject numbers that JSON would write as null, because null lifts a limit', () => {
    for (const amount of [Number.NaN, Infinity, -Infinity, 1n, () => 1, new Date(0)])
      assert.throws(
        () => requestFor('updateKey', { key_id: 'a', rate_limit_rpm: 60, credit_limit_pkr: amount as never }),
        /credit_limit_pkr of updateKey cannot be sent as JSON/,
      );
    assert.deepEqual(
      requestFor('updateKey', {
        key_id: 'a',
        rate_limit_rpm: 60,
        credit_limit_pkr: null,
        expires_at: undefined,
      }).body,
      { rate_limit_rpm: 60, credit_limit_pkr: null },
    );
  });

  it('send objects with the members that are given', () => {
    const limit = { window: 'day', limit_pkr: 1 } as const;
    assert.deepEqual(
      requestFor('createSpendLimit', { ...limit, scope: { kind: 'organization', id: undefined } }).body,
      { ...limit, scope: { kind: 'organization' } },
    );
    for (const value of [Number.NaN, 1n, new Map()])
      assert.throws(
        () =>
          requestFor('createSpendLimit', { ...limit, scope: { kind: 'metadata', value: value as never } }),
        /scope\.value of createSpendLimit cannot be sent as JSON/,
      );
  });

  it('leave out empty parameters of a query and reject what is no text', () => {
    assert.deepEqual(
      requestFor('listRequests', { search: '', model: undefined, limit: 5, offset: 0, key_id: null as never })
        .query,
      { limit: '5', offset: '0' },
    );
    for (const limit of [Number.NaN, Infinity, {}, []])
      assert.throws(
        () => requestFor('listRequests', { limit: limit as never }),
        /limit of listRequests must be/,
      );
  });

  it('reject a header that would be two', () => {
    const given = { project_id: 'a', name: 'b' };
    for (const idempotency_key of ['', 'a\r\nX: y', 'é'])
      assert.throws(() => requestFor('createKey', { ...given, idempotency_key }), /must be printable ASCII/);
  });
});
