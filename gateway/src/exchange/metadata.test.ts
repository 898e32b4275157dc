import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutToBytes, cutToStorable, headerText } from '../wire/text.ts';
import { readMetadata as read } from './metadata.ts';

const readMetadata = (headers: readonly string[]) => read(headers, new Map());
const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('readMetadata', () => {
  it('takes the names after the prefix in lower case, and nothing else', () => {
    const metadata = readMetadata([
      'User-Agent',
      'x',
      'X-SVC-Meta-Team',
      'search',
      'x-svc-meta-RUN',
      '7',
      'X-SVC-Meta-',
      'no name',
      'X-SVC-Metadata',
      'no prefix',
    ]);
    assert.deepEqual(
      [...metadata],
      [
        ['team', 'search'],
        ['run', '7'],
      ],
    );
  });

  it('keeps __proto__ and constructor as names like any other', () => {
    const metadata = readMetadata(['X-SVC-Meta-__proto__', 'p', 'X-SVC-Meta-Constructor', 'c']);
    assert.deepEqual(
      [...metadata],
      [
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ],
    );
  });

  it('joins repeats, also beyond the last entry that is kept', () => {
    const many = Array.from({ length: 33 }, (_, n) => [`X-SVC-Meta-N${n}`, String(n)]).flat();
    const metadata = readMetadata([...many, 'X-SVC-Meta-N0', 'again', 'X-SVC-Meta-N32', 'late']);
    assert.equal(metadata.size, 32);
    assert.equal(metadata.get('n0'), '0, again');
    assert.equal(metadata.has('n32'), false);
  });

  it('drops a name of 65 characters and cuts a value after 1 KiB, not through a character', () => {
    const metadata = readMetadata([
      `X-SVC-Meta-${'n'.repeat(64)}`,
      latin1(`a${'é'.repeat(600)}`),
      `X-SVC-Meta-${'n'.repeat(65)}`,
      'x',
    ]);
    assert.deepEqual([...metadata], [['n'.repeat(64), `a${'é'.repeat(511)}`]]);
  });
});

describe('readMetadata of headers that clients send by themselves', () => {
  const mapped = new Map([
    ['x-agent-session', 'session-id'],
    ['session-id', 'session-id'],
    ['x-user-email', 'user-email'],
  ]);

  it('keeps those that are mapped, in any case, under their names, and no others', () => {
    const metadata = read(
      ['X-Agent-Session', 's1', 'X-USER-EMAIL', latin1('é@x.pk'), 'x-user-role', 'admin'],
      mapped,
    );
    assert.deepEqual(
      [...metadata],
      [
        ['session-id', 's1'],
        ['user-email', 'é@x.pk'],
      ],
    );
  });

  it('prefers a label of the caller, and then the first of the map', () => {
    const headers = ['session-id', 'second', 'x-agent-session', 'first'];
    assert.equal(read(headers, mapped).get('session-id'), 'first');
    assert.equal(read([...headers, 'x-svc-meta-session-id', 'mine'], mapped).get('session-id'), 'mine');
    // An empty one says nothing.
    assert.equal(read(['session-id', 's2', 'x-agent-session', ''], mapped).get('session-id'), 's2');
  });

  it('takes no room of the labels, is masked and is cut like them', () => {
    const labels = Array.from({ length: 32 }, (_, n) => [`X-SVC-Meta-N${n}`, String(n)]).flat();
    assert.equal(read(['x-user-email', 'late@x.pk', ...labels], mapped).has('user-email'), false);
    const secret = 'sk_svc_0123456789abcdefABCDEF0123456789';
    const { value } = read(['session-id', `${secret}${'é'.repeat(600)}`], mapped)
      .values()
      .next();
    assert.ok(value?.startsWith('sk_svc_01234567…') && Buffer.byteLength(value) <= 1024);
  });
});

describe('header text', () => {
  for (const [raw, text] of [
    ['plain', 'plain'],
    [latin1('café ☕'), 'café ☕'],
    // A lone Latin-1 é is no UTF-8: it stays what it was.
    ['caf\u00e9', 'café'],
    ['', ''],
  ] as const) {
    it(`reads ${JSON.stringify(raw)} as ${text}`, () => assert.equal(headerText(raw), text));
  }

  it('is cut to bytes and to what can be stored', () => {
    assert.equal(cutToBytes('aé☕😀', 10), 'aé☕😀');
    assert.equal(cutToBytes('aé☕😀', 9), 'aé☕');
    assert.equal(cutToBytes('aé☕😀', 0), '');
    assert.equal(cutToStorable('a\u0000b\ud800', 4), 'a\ufffdb\ufffd');
    assert.equal(cutToStorable('ab😀', 3), 'ab\ufffd');
  });
});
