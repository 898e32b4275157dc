import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dataOf, EventSplitter, EventTooLarge, nameOf, withData } from './sse.ts';

function split(stream: string, at: readonly number[]): { events: string[]; rest: string } {
  const bytes = Buffer.from(stream);
  const splitter = new EventSplitter();
  const events = [0, ...at].flatMap((start, index) =>
    splitter.push(bytes.subarray(start, at[index] ?? bytes.length)),
  );
  return { events: events.map(String), rest: splitter.rest().toString() };
}

describe('EventSplitter', () => {
  for (const [title, events, rest] of [
    ['newlines', ['data: a\n\n', 'data: b\nid: 1\n\n'], ''],
    ['carriage returns', ['data: a\r\n\r\n', ': ping\r\n\r\n'], ''],
    ['both mixed', ['data: a\r\n\n', 'data: b\n\r\n'], ''],
    ['blank lines in a row', ['data: a\n\n', '\n', '\r\n', 'data: b\n\n'], ''],
    ['multi-byte text', ['data: é☕😀\n\n', 'data: 漢字\n\n'], ''],
    ['an event without an end', ['data: a\n\n'], 'data: b\n'],
    ['a lone carriage return in a line', ['data: a\rb\n\n'], '\r'],
  ] as const) {
    it(`finds the events wherever the stream is split: ${title}`, () => {
      const stream = events.join('') + rest;
      const { length } = Buffer.from(stream);
      for (let one = 0; one <= length; one += 1) {
        for (let two = one; two <= length; two += 1) {
          assert.deepEqual(split(stream, [one, two]), { events: [...events], rest });
        }
      }
      const everywhere = Array.from({ length: length - 1 }, (_, index) => index + 1);
      assert.deepEqual(split(stream, everywhere), { events: [...events], rest });
    });
  }

  it('keeps hardly more than what came of an event, byte by byte, and nothing of it after', () => {
    const splitter = new EventSplitter();
    const byte = Buffer.from('x');
    for (let sent = 1; sent <= 1_000_000; sent += 1) splitter.push(byte);
    assert.ok(splitter.keptBytes <= 2_000_000, String(splitter.keptBytes));
    assert.equal(splitter.push(Buffer.from('\n\n'))[0]?.length, 1_000_002);
    assert.equal(splitter.keptBytes, 0);
  });

  it('refuses an event beyond its limit', () => {
    const splitter = new EventSplitter(10);
    assert.deepEqual(splitter.push(Buffer.from('data: 1\n\n12345678')).length, 1);
    assert.throws(() => splitter.push(Buffer.from('901')), EventTooLarge);
  });
});

describe('the data of an event', () => {
  for (const [event, data] of [
    ['data: a\n\n', 'a'],
    ['data:a\r\n\r\n', 'a'],
    ['data:  a\n\n', ' a'],
    ['event: x\ndata: a\nid: 1\ndata: b\n\n', 'a\nb'],
    ['data\n\n', ''],
    [': comment\n\n', undefined],
    ['database: a\n\n', undefined],
    ['\n', undefined],
    ['\ufeffdata: a\n\n', 'a'],
  ] as const) {
    it(`is ${JSON.stringify(data)} in ${JSON.stringify(event)}`, () => assert.equal(dataOf(event), data));
  }

  it('is replaced with the rest and the line ends kept', () => {
    assert.equal(withData('event: x\r\ndata: a\r\ndata: b\r\n\r\n', 'c'), 'event: x\r\ndata: c\r\n\r\n');
    assert.equal(withData('data: a\n\n', 'c'), 'data: c\n\n');
    assert.equal(withData('\ufeffdata: a\n\n', 'c'), 'data: c\n\n');
  });

  it('has its name behind a byte order mark, too', () => {
    assert.equal(nameOf('\ufeffevent: x\ndata: a\n\n'), 'x');
  });
});
