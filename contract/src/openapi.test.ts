import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { generatedDocuments } from './documents.ts';
import { type Endpoint, pathParameters } from './endpoint.ts';
import { activity, analytics, auth, endpoints, keys, organization } from './endpoints/index.ts';
import { COMPONENTS, type JsonSchema } from './json-schema.ts';
import { navigations } from './navigation.ts';
import { type OpenApiOperation, type OpenApiParameter, openApiDocument } from './openapi.ts';

const document = openApiDocument(endpoints, navigations);

describe('openApiDocument', () => {
  it('is the same each time, and its JSON says all of it', () => {
    assert.deepEqual(openApiDocument(endpoints, navigations), document);
    assert.deepEqual(JSON.parse(generatedDocuments()['docs/openapi.json'] ?? ''), document);
  });

  it('has the API under /api of its own host, and the version of the package', async () => {
    assert.deepEqual(document.servers, [{ url: '/api' }]);
    const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
    assert.equal(document.info['version'], manifest.version);
  });

  it('has every endpoint and nothing else', () => {
    const listed = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
    );
    const declared = [
      ...(endpoints as readonly Endpoint[]).map(
        ({ method, path, name }) => `${method.toLowerCase()} ${path} ${name}`,
      ),
      ...navigations.map(({ path, name }) => `get ${path} ${name}`),
      'get /openapi.json describe',
    ];
    assert.deepEqual(listed.sort(), declared.sort());
    assert.equal(new Set(declared.map((line) => line.split(' ')[2])).size, declared.length);
  });

  it('refers only to schemas that it holds, and holds none that nobody refers to', () => {
    const references = [...everySchema()].flatMap(({ schema }) => schema.$ref ?? []);
    const names = new Set(references.map((reference) => reference.slice(COMPONENTS.length)));
    for (const reference of references) assert.ok(reference.startsWith(COMPONENTS), reference);
    assert.deepEqual([...names].sort(), Object.keys(document.components.schemas));
  });

  it('says of every value what it is', () => {
    for (const { where, schema } of everySchema()) {
      const { type, anyOf, oneOf, not, $ref } = schema;
      assert.ok(type ?? anyOf ?? oneOf ?? not ?? $ref, `${where} says nothing: ${JSON.stringify(schema)}`);
      if (schema.type === 'object') {
        assert.ok(schema.properties ?? schema.additionalProperties, `${where} is any object`);
      }
      if (schema.type === 'array') assert.ok(schema.items, `${where} is a list of anything`);
    }
  });

  it('admits no field in a reply that it does not list, and any in a body', () => {
    for (const endpoint of endpoints as readonly Endpoint[]) {
      const { responses, requestBody } = operation(endpoint);
      const reply = deref(responses[endpoint.status]?.content?.['application/json'].schema);
      assert.equal(reply.additionalProperties, false, endpoint.name);
      assert.equal(requestBody !== undefined, endpoint.body !== undefined, endpoint.name);
      if (requestBody) {
        const body = requestBody.content?.['application/json'].schema;
        assert.equal(body.additionalProperties, undefined, endpoint.name);
      }
    }
  });

  for (const endpoint of endpoints as readonly Endpoint[]) {
    it(`lists the errors of ${endpoint.name}`, () => {
      const { responses, security, tags } = operation(endpoint);
      const has = (status: number) => responses[status] !== undefined;
      assert.deepEqual(tags, [endpoint.section]);
      assert.deepEqual(security, endpoint.access === 'session' ? [{ session: [] }] : []);
      assert.equal(has(401), true);
      assert.equal(has(403), endpoint.method !== 'GET' || has(403));
      assert.equal(has(413) && has(415), endpoint.body !== undefined);
      assert.equal(has(500) && has(503), true);
      for (const { status, body, when } of endpoint.errors) {
        const response = responses[status];
        assert.ok(response, `${status} is missing`);
        assert.match(
          response.description,
          new RegExp(when.slice(1).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')),
        );
        assert.ok(forms(response.content?.['application/json'].schema).includes(FORM[body]));
      }
      for (const [status, { headers }] of Object.entries(responses)) {
        assert.ok(headers['X-Request-Id']);
        assert.equal(headers['Retry-After'] !== undefined, status === '429' || status === '503');
        assert.equal(headers['Set-Cookie'] !== undefined, endpoint.setsCookies && Number(status) < 300);
      }
      const inPath = operation(endpoint).parameters.filter((parameter) => parameter.in === 'path');
      assert.deepEqual(
        inPath.map(({ name }) => name),
        pathParameters(endpoint.path),
      );
    });
  }

  it('describes the parameters of a list', () => {
    const { parameters } = operation(activity.listActivity);
    assert.deepEqual(
      parameters.map(({ name, in: where, required }) => [name, where, required]),
      [
        ['limit', 'query', false],
        ['offset', 'query', false],
        ['until', 'query', false],
        ['action', 'query', false],
        ['actor', 'query', false],
      ],
    );
    const [limit, offset] = parameters as [OpenApiParameter, OpenApiParameter];
    assert.deepEqual(limit.schema, { type: 'integer', minimum: 1, default: 50 });
    assert.deepEqual(offset.schema, {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
    });
    assert.match(limit.description ?? '', /200/);
    assert.equal(limit.example, 50);
  });

  it('describes the formats of a reply', () => {
    for (const endpoint of endpoints as readonly Endpoint[]) {
      const { content, headers } = operation(endpoint).responses[endpoint.status] ?? assert.fail();
      assert.deepEqual(Object.keys(content ?? {}), ['application/json', ...endpoint.exports]);
      assert.equal(headers['Content-Disposition'] !== undefined, endpoint.exports.length > 0);
    }
    const { content } = operation(analytics.listRequests).responses[200] ?? assert.fail();
    for (const type of ['text/csv', 'application/x-ndjson'] as const) {
      assert.equal(content?.[type]?.schema.type, 'string');
      assert.match(content?.[type]?.schema.description ?? '', /^All rows, regardless of limit and offset/);
    }
  });

  it('offers both bodies of 400 and of 401 where both occur', () => {
    const bad = operation(auth.register).responses[400]?.content?.['application/json'].schema;
    assert.deepEqual(forms(bad), ['Detail', 'Error']);
    const unknown = operation(auth.login).responses[401]?.content?.['application/json'].schema;
    assert.deepEqual(forms(unknown), ['Error', 'Unauthorized']);
    const noSession = operation(organization.listMembers).responses[401]?.content?.['application/json']
      .schema;
    assert.deepEqual(forms(noSession), ['Unauthorized']);
  });

  it('shares schemas that have a name', () => {
    const { schema } = operation(auth.me).responses[200]?.content?.['application/json'] ?? {};
    assert.deepEqual(schema, { $ref: `${COMPONENTS}Account` });
    const members = operation(organization.listMembers).responses[200]?.content?.['application/json'].schema;
    assert.deepEqual(members?.properties?.['members']?.items, { $ref: `${COMPONENTS}Member` });
  });

  it('writes formats instead of patterns, and no bounds that hold for every number', () => {
    const json = JSON.stringify(document);
    assert.ok(!json.includes('-02-29'));
    assert.ok(!json.includes('-9007199254740991'));
    const key = deref(operation(keys.createKey).responses[201]?.content?.['application/json'].schema);
    assert.deepEqual(key.properties?.['id'], { type: 'string', format: 'uuid' });
    assert.equal(key.properties?.['api_key']?.pattern, '^sk_svc_[0-9A-Za-z]{32}$');
  });
});

const FORM = { error: 'Error', detail: 'Detail', unauthorized: 'Unauthorized' } as const;

function operation(endpoint: Endpoint): OpenApiOperation {
  const found = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
  return found ?? assert.fail(`${endpoint.name} is missing`);
}

/** The names of the schemas that a body can have. */
function forms(schema: JsonSchema | undefined): (string | undefined)[] {
  return (schema?.oneOf ?? [schema]).map((form) => form?.$ref?.slice(COMPONENTS.length)).sort();
}

function deref(schema: JsonSchema | undefined): JsonSchema {
  if (schema?.$ref === undefined) return schema ?? assert.fail('no schema');
  return document.components.schemas[schema.$ref.slice(COMPONENTS.length)] ?? assert.fail(schema.$ref);
}

function* everySchema(): Generator<{ where: string; schema: JsonSchema }> {
  for (const [name, schema] of Object.entries(document.components.schemas)) yield* within(name, schema);
  for (const endpoint of endpoints) {
    const { parameters, requestBody, responses } = operation(endpoint);
    for (const { name, schema } of parameters) yield* within(`${endpoint.name} ${name}`, schema);
    if (requestBody) yield* within(`${endpoint.name} body`, requestBody.content?.['application/json'].schema);
    for (const [status, { content }] of Object.entries(responses))
      for (const [type, { schema }] of Object.entries(content ?? assert.fail(endpoint.name)))
        yield* within(`${endpoint.name} ${status} ${type}`, schema);
  }
}

function* within(where: string, schema: JsonSchema): Generator<{ where: string; schema: JsonSchema }> {
  yield { where, schema };
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* within(`${where}.${name}`, field);
  for (const option of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* within(`${where}|`, option);
  if (schema.items) yield* within(`${where}[]`, schema.items);
  if (typeof schema.additionalProperties === 'object')
    yield* within(`${where}{}`, schema.additionalProperties);
}
