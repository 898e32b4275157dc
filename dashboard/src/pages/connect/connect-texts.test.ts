import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CLIENTS, type ClientId, type ConnectionOf } from './connect-texts.ts';

const DOCS = join(import.meta.dirname, '../../../../docs/clients');
const doc = (name: string) => readFileSync(join(DOCS, `${name}.md`), 'utf8');

const LOCAL: ConnectionOf = { gateway: 'http://localhost:8081', secret: undefined, model: undefined };
const SECRET = `sk_svc_${'a1B2'.repeat(8)}`;

function codes(id: ClientId, connection: ConnectionOf): readonly string[] {
  const client = CLIENTS.find((one) => one.id === id);
  assert.ok(client);
  return client.steps(connection).flatMap(({ code }) => (code === undefined ? [] : [code]));
}

describe('the texts to connect a client', () => {
  // docs/clients/ is compared with `gatehouse connect` and the clients themselves by other tests.
  for (const [id, page, connection] of [
    ['claude-code', 'claude-code', LOCAL],
    ['claude-code', 'claude-code', { ...LOCAL, model: 'demo/echo' }],
    ['codex', 'codex', LOCAL],
    ['codex', 'README', { ...LOCAL, model: 'openai/gpt-5-mini' }],
    ['cursor', 'cursor', { ...LOCAL, gateway: 'https://gateway.example.com', model: 'openai/gpt-5-mini' }],
    ['open-webui', 'open-webui', { ...LOCAL, gateway: 'http://host.docker.internal:8081' }],
    ['typescript', 'openai-sdk', LOCAL],
  ] as const)
    it(`of ${id} stand in docs/clients/${page}.md${connection.model === undefined ? '' : ` for ${connection.model}`}`, () => {
      const text = doc(page);
      const [settings = ''] = codes(id, connection);
      assert.ok(text.includes(settings), settings);
    });

  it('start the clients as the docs do', () => {
    for (const id of ['claude-code', 'codex', 'open-webui'] as const)
      assert.ok(doc(id).includes(codes(id, LOCAL)[1] ?? 'none'), id);
    assert.ok(doc('openai-sdk').includes(codes('typescript', LOCAL)[1] ?? 'none'));
    assert.ok(doc('openai-sdk').includes(codes('python', LOCAL)[0] ?? 'none'));
    assert.ok(doc('README').includes((codes('curl', LOCAL)[1] ?? 'none').split('\n')[0] ?? 'none'));
  });

  it('give clients of OpenAI’s protocol an address with /v1, and those of Anthropic’s one without', () => {
    for (const { id, steps } of CLIENTS) {
      const text = steps({ ...LOCAL, gateway: 'https://gw.example' })
        .map(({ code }) => code ?? '')
        .join('\n');
      const addresses = text.match(/https:\/\/gw\.example[^\s"',]*/g) ?? [];
      assert.ok(addresses.length > 0, id);
      for (const address of addresses)
        if (id === 'claude-code') assert.equal(address, 'https://gw.example');
        else assert.match(address, /^https:\/\/gw\.example\/v1(\/|$)/, id);
    }
  });

  it('have the secret where it is known, and a placeholder where it is not', () => {
    for (const { id } of CLIENTS) {
      assert.ok(
        codes(id, { ...LOCAL, secret: SECRET })
          .join('\n')
          .includes(SECRET),
        id,
      );
      assert.match(codes(id, LOCAL).join('\n'), /sk_svc_\.\.\.|GATEHOUSE_API_KEY/, id);
      assert.doesNotMatch(codes(id, { ...LOCAL, secret: SECRET }).join('\n'), /sk_svc_\.\.\./, id);
    }
  });

  it('keep a hostile model name within its quotes', () => {
    const model = `'"; $(touch x) \\ \``;
    const [, request = ''] = codes('curl', { ...LOCAL, model });
    assert.ok(request.endsWith(`}'`) && request.includes(`'\\''`), request);
    const [, program = ''] = codes('typescript', { ...LOCAL, model });
    assert.ok(program.includes(`model: '\\'"; $(touch x) \\\\ \`',`), program);
    assert.doesNotThrow(() => JSON.parse(codes('claude-code', { ...LOCAL, model })[0] ?? ''));
  });
});
