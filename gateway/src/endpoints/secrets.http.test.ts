import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useBench } from '../testing/bench.ts';
import { json } from '../testing/mock-provider.ts';
import { issueKey } from '../testing/test-gateway.ts';
import { maskKeys } from '../wire/text.ts';

describe('maskKeys', () => {
  const secret = 'sk_svc_0123456789abcdefABCDEF0123456789';
  for (const [text, masked] of [
    [secret, 'sk_svc_01234567…'],
    [`xx${secret}, ${secret}!`, 'xxsk_svc_01234567…, sk_svc_01234567…!'],
    [secret.toLowerCase(), 'sk_svc_01234567…'],
    [secret.toUpperCase(), 'SK_SVC_01234567…'],
    [secret.slice(0, 16), 'sk_svc_01234567…'],
    [secret.slice(0, 15), 'sk_svc_01234567'],
    ['sk_svc_', 'sk_svc_'],
    ['gpt-x', 'gpt-x'],
  ] as const) {
    it(`makes ${masked} of ${text}`, () => assert.equal(maskKeys(text), masked));
  }
});

const bench = await useBench();

describe('a key in a wrong place', () => {
  // What the caller sees is not looked at: it knows its key.
  const assertKeptOut = (secret: string) => {
    const { logged, journal } = bench.gateway;
    const records = journal.records.map(({ metadata, ...rest }) => ({ ...rest, metadata: [...metadata] }));
    const all = JSON.stringify([logged, records], (_name, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ).toLowerCase();
    assert.ok(!all.includes(secret.toLowerCase()));
    assert.ok(!all.includes(secret.slice(0, 16).toLowerCase()));
  };

  it('404 for one as the model, masked in the answer, the record and the log', async () => {
    const { secret, prefix } = bench.key;
    const [short, long] = ['m'.repeat(184), 'm'.repeat(240)];
    for (const [model, masked, recorded] of [
      [secret, `${prefix}…`, `${prefix}…`],
      // The key is cut at the end of what is kept, in the row and in the answer.
      [short + secret, `${short}${prefix}…`, `${short}${prefix}…`],
      [long + secret, `${long}${prefix}…`, 'm'.repeat(200)],
    ] as const) {
      const response = await bench.gateway.chat(secret, { model });
      assert.equal(response.status, 404);
      const { error } = (await response.json()) as { error: { message: string } };
      assert.ok(error.message.includes(masked));
      assert.ok(!error.message.includes(secret.slice(0, 16)));
      assert.equal((await bench.recordOf(response)).model, recorded);
      assert.equal(bench.gateway.logged.at(-1)?.['model'], masked);
    }
    assertKeptOut(secret);
  });

  it('403 for one as the model of a key that is restricted, masked too', async () => {
    const { secret, prefix } = await issueKey(bench.database, { allowedModels: ['mock/model'] });
    const response = await bench.gateway.chat(secret, { model: secret });
    assert.equal(response.status, 403);
    assert.ok(!(await response.text()).includes(secret));
    assert.equal((await bench.recordOf(response)).model, `${prefix}…`);
    assertKeptOut(secret);
  });

  it('is masked in labels, their names, the user agent and what the provider said', async () => {
    const { secret, prefix } = bench.key;
    bench.provider.script = json({ error: { message: `no such user: x${secret}` } }, 400);
    const response = await bench.gateway.chat(
      secret,
      {},
      {
        headers: {
          'user-agent': `agent/${secret}`,
          'x-svc-meta-team': `mine ${secret}`,
          [`x-svc-meta-${secret}`]: 'a name',
          'x-svc-meta-long': `${'l'.repeat(1_005)}${secret}`,
        },
      },
    );
    assert.equal(response.status, 400);
    const { userAgent, metadata, upstreamError } = await bench.recordOf(response);
    assert.equal(userAgent, `agent/${prefix}…`);
    assert.equal(metadata.get('team'), `mine ${prefix}…`);
    assert.equal(metadata.get(`${prefix.toLowerCase()}…`), 'a name');
    assert.equal(upstreamError, `no such user: x${prefix}…`);
    assertKeptOut(secret);
  });

  it('404 for one in the path, masked in the log, and its query left out', async () => {
    const { secret, prefix } = bench.key;
    const response = await bench.gateway.fetch(`/v1/${secret}/${'p'.repeat(300)}?key=${secret}`);
    assert.equal(response.status, 404);
    const path = `/v1/${prefix}…/`;
    assert.equal(bench.gateway.logged.at(-1)?.['path'], path.padEnd(200, 'p'));
    assertKeptOut(secret);
  });
});
