import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { DetailBody, type Endpoint, ErrorBody, endpoints, openApiDocument } from '@gatehouse/contract';
import type { ApiClient } from '../testing/api-client.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { startTestApi } from '../testing/test-api.ts';

// What PostgreSQL refuses with an error of its own, or keeps as U+FFFD.
const NOT_STORABLE = ['a\u0000b', '\u0000', '\ud800', '\udc00', 'a\ud83d', '\ude00\ud83d'];
const NOT_STORABLE_IN_A_QUERY = ['%00', 'a%00b', '%ED%A0%80', '%ff', '%C0%80', '%F0%9F%98'];

const document = openApiDocument(endpoints, []);
const operation = ({ path, method }: Endpoint) => document.paths[path]?.[method.toLowerCase()];

interface TextField {
  readonly endpoint: Endpoint;
  readonly name: string;
  /** An id is not text: one that cannot be is answered like one that is not. */
  readonly isId: boolean;
}

const bodyOf = (endpoint: Endpoint) =>
  operation(endpoint)?.requestBody?.content['application/json'].schema.properties ?? {};

const all = endpoints as readonly Endpoint[];
const textFields: TextField[] = all.flatMap((endpoint) =>
  Object.entries(bodyOf(endpoint))
    .filter(([, field]) => [field.type].flat().includes('string'))
    .map(([name, field]) => ({ endpoint, name, isId: field.format === 'uuid' })),
);

/** A body with something fitting in each text field. */
function fitting(endpoint: Endpoint): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(bodyOf(endpoint))
      .filter(([, field]) => field.type === 'string')
      .map(([name, field]) => {
        if (field.enum) return [name, field.enum[0]];
        if (field.format === 'uuid') return [name, randomUUID()];
        return [name, field.format === 'email' ? 'text@example.com' : `some text ${name}`];
      }),
  );
}

describe('text that cannot be stored', () => {
  const api = duringTests(startTestApi);
  let client: ApiClient;
  let cookie: string;
  before(async () => {
    ({ client } = await api.signUp());
    cookie = `svc_access_token=${client.cookies.get('svc_access_token')}`;
  });

  for (const { endpoint, name, isId } of textFields) {
    it(`${isId ? 404 : 400} in the field ${name} of ${endpoint.name}, and nothing is changed`, async () => {
      const before = await dumpTables(api.database);
      for (const text of NOT_STORABLE) {
        const reply = await client.raw({
          method: endpoint.method,
          path: somePath(endpoint),
          headers: { cookie, 'content-type': 'application/json' },
          body: JSON.stringify({ ...fitting(endpoint), [name]: text }),
        });
        assert.equal(reply.status, isId ? 404 : 400, reply.text);
        const body: unknown = JSON.parse(reply.text);
        assert.ok(DetailBody.safeParse(body).success || ErrorBody.safeParse(body).success, reply.text);
        assert.ok(!/\ufffd|\\u0000|\\ud/.test(reply.text), reply.text);
      }
      assert.equal(await dumpTables(api.database), before);
    });
  }

  for (const endpoint of all) {
    const parameters = operation(endpoint)?.parameters ?? [];
    for (const { name, in: where } of parameters) {
      if (where !== 'query') continue;
      const others = parameters
        .filter((other) => other.in === 'query' && other.required === true && other.name !== name)
        .map((other) => `&${other.name}=x`)
        .join('');
      it(`400 in the parameter ${name} of ${endpoint.name}`, async () => {
        for (const value of NOT_STORABLE_IN_A_QUERY) {
          const path = `${somePath(endpoint)}?${name}=${value}${others}`;
          const reply = await client.raw({ method: endpoint.method, path, headers: { cookie } });
          assert.equal(reply.status, 400, reply.text);
          const { detail } = DetailBody.parse(JSON.parse(reply.text));
          assert.deepEqual(
            detail.map(({ loc, type }) => [loc, type]),
            [[['query', name], 'text_not_storable']],
          );
        }
      });
    }
  }

  it('401 in a session cookie', async () => {
    for (const token of ['é', '\u0080\u00ff', '%00', '\u00ed\u00a0\u0080', '"', '\\', '\t', "' OR 1=1 --"]) {
      const reply = await client.raw({
        method: 'GET',
        path: '/api/members',
        headers: { cookie: `svc_access_token=${token}` },
      });
      assert.equal(reply.status, 401);
      assert.equal(reply.text, '{"detail":"Unauthorized"}');
    }
  });
});
