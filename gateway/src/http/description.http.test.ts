import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gatewayOpenApiDocument } from '@gatehouse/contract';
import { MODEL_ENDPOINTS } from '../endpoints/model-endpoints.ts';
import { useBench } from '../testing/index.ts';

describe('GET /v1/openapi.json', () => {
  it('200 without a key, with every path that the gateway says it serves and no other', async () => {
    const bench = await useBench();
    const address = `http://127.0.0.1:${bench.gateway.port}`;
    const reply = await fetch(`${address}/v1/openapi.json`);
    assert.deepEqual(
      [reply.status, reply.headers.get('content-type')],
      [200, 'application/json; charset=utf-8'],
    );
    const document = (await reply.json()) as ReturnType<typeof gatewayOpenApiDocument>;
    assert.deepEqual(document, JSON.parse(JSON.stringify(gatewayOpenApiDocument())));
    const served = [...(await (await fetch(address)).text()).matchAll(/^ {2}(\w+) +\/v1(\/\S+)$/gm)];
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(described.sort(), served.map(([, method, path]) => `${method} ${path}`).sort());
  });

  it('names the operations as the log does', () => {
    const named = Object.entries(gatewayOpenApiDocument().paths).flatMap(([path, methods]) =>
      Object.values(methods).map((one) => [`/v1${path}`, (one as { operationId: string }).operationId]),
    );
    for (const { path, operation } of MODEL_ENDPOINTS)
      assert.ok(
        named.some(([at, name]) => at === path && name === operation),
        path,
      );
  });
});
