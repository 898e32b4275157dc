import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { format, inspect } from 'node:util';
import { pino } from 'pino';
import { Secret } from './secret.ts';

describe('Secret', () => {
  const secret = new Secret('sk_svc_canary');

  it('gives the text away only when asked to reveal it', () => {
    assert.equal(secret.reveal(), 'sk_svc_canary');
  });

  it('shows nothing of it however it is printed, joined, logged or walked through', () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    log.info({ secret, deep: { list: [secret] }, err: new Error(`with ${secret}`) }, `and ${secret}`);
    const shown = [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }, { depth: null, showHidden: true, getters: true }),
      format('%s %o %j', secret, secret, secret),
      Object.values(secret).join(),
      JSON.stringify(structuredClone({ ...secret })),
      ...lines,
    ];
    for (const text of shown) assert.doesNotMatch(text, /canary/);
    assert.equal(JSON.stringify([secret]), '["[secret]"]');
  });
});
