import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyError } from '../call.ts';
import { fittingName } from '../peculiarities/request-rules.ts';
import { Losses } from './losses.ts';
import { sealOfText, sealToText } from './reasoning.ts';
import { ToolNames } from './tool-names.ts';

describe('what a translation loses', () => {
  it('is named once, in the order in which it was lost', () => {
    const losses = new Losses('chat', 'messages');
    losses.lose('seed');
    losses.lose('hostedTools', 'tools[web_search]');
    losses.lose('seed');
    assert.deepEqual(losses.dropped, ['seed', 'tools[web_search]']);
  });

  it('fits a header, whatever the names', () => {
    const losses = new Losses('chat', 'messages');
    for (let index = 0; index < 100; index += 1)
      losses.lose('unknownMember', `a,b\r\né${index}${'x'.repeat(100)}`);
    assert.equal(losses.dropped.length, 33);
    assert.equal(losses.dropped[32], '...');
    for (const name of losses.dropped) assert.match(name, /^[\x21-\x2b\x2d-\x7e]{1,64}$/);
  });

  it('is refused by name where the answer would be another one', () => {
    assert.throws(
      () => new Losses('chat', 'messages').lose('choices'),
      new BodyError(
        'n cannot be sent to this model: its provider speaks Anthropic messages, which has nothing for it (several answers at once (`n` above 1)).',
        'n',
      ),
    );
  });
});

describe('a seal in a format that is not its own', () => {
  for (const seal of [
    { kind: 'signature', value: 's' },
    { kind: 'redacted', value: 'é☕' },
    { kind: 'encrypted', value: 'e' },
    { kind: 'encrypted', value: 'e', id: 'rs_1' },
    { kind: 'details', value: '[]' },
    { kind: 'extra', value: '{}', id: 'call_1' },
  ] as const) {
    it(`comes back: ${JSON.stringify(seal)}`, () => {
      const text = sealToText(seal) ?? '';
      assert.match(text, /^gatehouse\.v1\.[\w-]+$/);
      assert.deepEqual(sealOfText(text), seal);
    });
  }

  for (const made of [
    '[]',
    '{"kind":"signature"}',
    '{"kind":"x","value":"y"}',
    '{"kind":"extra","value":"y"}',
    '{',
  ])
    it(`is none when it is made up: ${made}`, () =>
      assert.equal(sealOfText(`gatehouse.v1.${Buffer.from(made).toString('base64url')}`), undefined));

  it('is not carried when it is too large', () => {
    assert.equal(sealToText({ kind: 'signature', value: 'x'.repeat(600_000) }), undefined);
  });
});

describe('a name that a provider does not take', () => {
  it('is sent as one that it takes, the same each time', () => {
    for (const name of ['a.b', 'é☕', 'x'.repeat(65), '', ' ', '__proto__.x']) {
      const sent = fittingName(name, 64);
      assert.match(sent, /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(fittingName(name, 64), sent);
    }
    assert.notEqual(fittingName('a.b', 64), fittingName('a/b', 64));
  });

  it('is known by the one that was sent', () => {
    const names = new ToolNames(64);
    const sent = names.sent('a.b');
    assert.equal(names.sent('__proto__'), '__proto__');
    assert.deepEqual(names.notes().toolNames, { [sent]: 'a.b' });
  });
});
