import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeLine } from '../journal/record-line.ts';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { issueKey } from '../testing/test-gateway.ts';

const bench = await useBench({
  bodyLimitBytes: 1024 * 1024,
  metadataHeaders: new Map([
    ['x-claude-code-session-id', 'session-id'],
    ['x-openwebui-user-email', 'user-email'],
  ]),
});

describe('headers that are kept as metadata', () => {
  it('200 with what the client says of itself on record, and nothing personal sent to the provider', async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    const headers = {
      'x-claude-code-session-id': 'a-session',
      'x-openwebui-user-email': 'person@example.com',
      'x-openwebui-user-role': 'admin',
      'x-svc-meta-team': 'search',
    };
    const response = await bench.gateway.chat(bench.key.secret, {}, { headers });
    assert.equal(response.status, 200);
    const { metadata } = await bench.recordOf(response);
    assert.deepEqual(Object.fromEntries(metadata), {
      team: 'search',
      'session-id': 'a-session',
      'user-email': 'person@example.com',
    });
    const sent = JSON.stringify(bench.provider.asked.at(-1)?.headers);
    assert.doesNotMatch(sent, /openwebui|person@example\.com|svc-meta/);
  });

  const labels = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-svc-meta-n${n}`, 'é'.repeat(500)]));
  const bytesOf = (metadata: ReadonlyMap<string, string>) =>
    Buffer.byteLength([...metadata].map(([name, value]) => name + value).join(''));
  const ask = async (secret: string, headers: Record<string, string>) => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    const response = await bench.gateway.chat(secret, {}, { headers });
    assert.equal(response.status, 200);
    await response.text();
    return response;
  };

  it('200 with 4 KiB of it at most, names and values together; the answer names what is cut', async () => {
    const { secret } = await issueKey(bench.database);
    const cut = await ask(secret, { ...labels(14), 'x-openwebui-user-email': 'a@x.pk' });
    const { metadata } = await bench.recordOf(cut);
    assert.deepEqual([...metadata.keys()], ['n0', 'n1', 'n2', 'n3', 'n4']);
    assert.ok(bytesOf(metadata) > 4_090 && bytesOf(metadata) <= 4_096, String(bytesOf(metadata)));
    assert.equal(
      cut.headers.get('x-gatehouse-metadata-cut'),
      'n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, user-email',
    );
    const whole = await ask(secret, labels(3));
    assert.equal(whole.headers.get('x-gatehouse-metadata-cut'), null);
    assert.equal((await bench.recordOf(whole)).metadata.size, 3);
  });

  it('200 with the first 512 bytes of the user agent', async () => {
    const { secret } = await issueKey(bench.database);
    const response = await ask(secret, { 'user-agent': `agent ${'x'.repeat(4_000)}` });
    assert.equal((await bench.recordOf(response)).userAgent, `agent ${'x'.repeat(506)}`);
  });

  it('400 whose row has less than 8 KiB, whatever the caller sends and the provider repeats', async () => {
    const { secret } = await issueKey(bench.database);
    const text = 'é'.repeat(8_000);
    bench.provider.script = async (reply, asked) => {
      reply.writeHead(400, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ error: { message: `${JSON.stringify(asked.body)} is wrong` } }));
    };
    const headers = { ...labels(13), 'user-agent': 'u'.repeat(4_000) };
    const messages = [{ role: 'user', content: text }];
    const response = await bench.gateway.chat(secret, { messages }, { headers });
    assert.equal(response.status, 400);
    await response.text();
    const bytes = Buffer.byteLength(encodeLine(await bench.recordOf(response)));
    assert.ok(bytes > 6_000 && bytes < 8_192, String(bytes));
  });
});
