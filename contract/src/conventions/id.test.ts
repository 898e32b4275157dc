import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { id, idReference, uuidFromText } from './id.ts';

const UUID = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';

describe('uuidFromText', () => {
  it('knows the canonical form, in any case, and returns it in lower case', () => {
    assert.equal(uuidFromText(UUID), UUID);
    assert.equal(uuidFromText(UUID.toUpperCase()), UUID);
    assert.equal(
      uuidFromText('00000000-0000-0000-0000-000000000000'),
      '00000000-0000-0000-0000-000000000000',
    );
  });

  for (const [title, text] of [
    ['nothing', ''],
    ['a word', 'not-a-uuid'],
    ['braces, which PostgreSQL takes', `{${UUID}}`],
    ['no hyphens, which PostgreSQL takes', UUID.replaceAll('-', '')],
    ['hyphens elsewhere', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11'],
    ['a urn', `urn:uuid:${UUID}`],
    ['a space before it', ` ${UUID}`],
    ['a newline after it', `${UUID}\n`],
    ['a NUL after it', `${UUID}\u0000`],
    ['one character less', UUID.slice(1)],
    ['one character more', `${UUID}0`],
    ['a letter that is no hex digit', UUID.replace('a', 'g')],
    ['digits of another script', UUID.replace('0', '\u0660')],
    ['a letter that lower-cases to k', UUID.replace('a', '\u212a')],
  ] as [string, string][]) {
    it(`refuses ${title}`, () => assert.equal(uuidFromText(text), undefined));
  }
});

describe('id and idReference', () => {
  it('let any text of a caller through, to be answered as unknown, and hold replies to the form', () => {
    for (const text of [UUID, '', 'not-a-uuid', '\u0000']) assert.equal(idReference().parse(text), text);
    for (const value of [5, null, undefined, [UUID]])
      assert.equal(idReference().safeParse(value).success, false);
    assert.equal(id().safeParse(UUID).success, true);
    assert.equal(id().safeParse('not-a-uuid').success, false);
  });
});
