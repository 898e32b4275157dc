import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REDACTED, redactionOf } from './redaction.ts';

const secret = 'sk-a/b+"c\\d-0123';

/** The secret as JSON may spell it: these characters by their code. */
function spelled(isByCode: (index: number) => boolean, digits = (code: string) => code): string {
  return Array.from(secret, (character, index) => {
    const code = digits(character.charCodeAt(0).toString(16).padStart(4, '0'));
    return isByCode(index) ? `\\u${code}` : JSON.stringify(character).slice(1, -1);
  }).join('');
}

describe('redaction', () => {
  const redaction = redactionOf(secret) ?? assert.fail();

  for (const [title, spelling] of [
    ['as it is', secret],
    ['in an address', encodeURIComponent(secret)],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON with slashes escaped', JSON.stringify(secret).slice(1, -1).replace('/', '\\/')],
    ['in JSON by codes', spelled(() => true)],
    [
      'in JSON by codes in capitals',
      spelled(
        () => true,
        (code) => code.toUpperCase(),
      ),
    ],
    ['in JSON, here and there by codes', spelled((index) => index % 3 === 1)],
  ] as const) {
    it(`takes the secret out ${title}`, () => {
      const text = `{"a":"☕ ${spelling}, \\n${spelling}","b":"é"}`;
      const redacted = `{"a":"☕ ${REDACTED}, \\n${REDACTED}","b":"é"}`;
      assert.equal(redaction.text(text), redacted);
      assert.equal(redaction.bytes(Buffer.from(text)).toString(), redacted);
    });
  }

  it('leaves every other byte as it came, text or not', () => {
    const [before, after] = [Buffer.from([0xff, 0x00, 0xc3, 0x28]), Buffer.from([0xe2, 0x82, 0x5c, 0x6e])];
    const bytes = redaction.bytes(Buffer.concat([before, Buffer.from(secret), after]));
    assert.deepEqual(bytes, Buffer.concat([before, Buffer.from(REDACTED), after]));
    for (const other of ['', secret.slice(1), secret.slice(0, -1), secret.toUpperCase(), '\\u0041\\n']) {
      const untouched = Buffer.from(other);
      assert.equal(redaction.bytes(untouched), untouched);
      assert.equal(redaction.text(other), other);
    }
  });

  it('is not for what could be a word', () => {
    assert.equal(redactionOf('secret'), undefined);
    assert.equal(redactionOf(undefined), undefined);
  });
});
