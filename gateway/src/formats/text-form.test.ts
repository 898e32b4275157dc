import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { randomFrom } from '../journal/testing/random.ts';
import { MOCK_SURFACES, TRANSLATED } from '../testing/mock-surfaces.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { redactionOf } from '../wire/redaction.ts';
import { formatOf } from './formats.ts';
import { TextForm } from './text-form.ts';
import { createStreamTranslator, notesWith } from './translation/testing.fixture.ts';

const WORDS = ['Hé ☕', ' "w"', '\n\\x', 'a'];
/** Bytes that are put into an event. */
const PUT = ['"', '\\', ',', '}', 'x', '1', '', '","', ':'];
const eventOf = (spelled: string, rest = '"n":1') => Buffer.from(`data: {"t":"${spelled}",${rest}}\n\n`);

function formOf(redaction = redactionOf(undefined), shown?: Buffer): TextForm {
  const event = eventOf('Hello');
  return TextForm.of(event, 'Hello', shown ?? event, redaction) ?? assert.fail();
}

describe('the form of an event', () => {
  for (const [title, spelled, text] of [
    ['plain text', ' world', ' world'],
    ['text beyond ASCII', 'Hé ☕ 😀', 'Hé ☕ 😀'],
    ['escapes', '\\n\\"\\\\\\u00e9\\/', '\n"\\é/'],
    ['half of a surrogate', '\\ud83d', '\ud83d'],
  ] as const) {
    it(`tells ${title}`, () => assert.equal(formOf().textOf(eventOf(spelled)), text));
  }

  for (const [title, event] of [
    ['no text', eventOf('')],
    ['another member', eventOf('a","u":"b')],
    ['another value beside it', eventOf('a', '"n":2')],
    ['something after its end', Buffer.concat([eventOf('a'), Buffer.from('\n')])],
    ['an end that is missing', eventOf('a').subarray(0, -1)],
    ['a string without an end', Buffer.from('data: {"t":"a')],
    ['an escape that is none', eventOf('\\q')],
    ['an escape of the quote', eventOf('a\\')],
    ['a line break', eventOf('a\nb')],
    ['another spelling of the name', Buffer.from('data: {"\\u0074":"a","n":1}\n\n')],
  ] as const) {
    it(`does not tell an event with ${title}`, () => assert.equal(formOf().textOf(event), undefined));
  }

  for (const [title, event, text] of [
    ['its text stands in it twice', eventOf('Hi', '"n":"Hi"'), 'Hi'],
    ['its text is not spelled as expected', eventOf('\\u0048i'), 'Hi'],
    ['there is a backslash outside the text', eventOf('Hi', '"n":"\\""'), 'Hi'],
    ['its text is not in it', eventOf('Hi'), 'Ho'],
    ['there is much beside the text', eventOf('Hi', `"n":[${'1,'.repeat(2_048)}1]`), 'Hi'],
  ] as const) {
    it(`is none where ${title}`, () =>
      assert.equal(TextForm.of(event, text, event, redactionOf(undefined)), undefined));
  }

  it('tells an event whose number and padding are others', () => {
    const of = (text: string, number: string, padding: string) =>
      eventOf(text, `"sequence_number":${number},"x":[],"obfuscation":"${padding}"`);
    const form = TextForm.of(of('a', '7', 'xy'), 'a', of('a', '7', 'xy'), undefined) ?? assert.fail();
    assert.equal(form.textOf(of('b', '18', '')), 'b');
    for (const number of ['', '01', '1.5', '-1', '12345678', '"1"']) {
      assert.equal(form.textOf(of('b', number, 'z')), undefined, number);
    }
    assert.equal(form.textOf(of('b', '1', 'z","y":"')), undefined);
  });

  it('leaves the same stretch out of each event', () => {
    const of = (text: string) => eventOf(text, '"n":[1],"usage":null');
    const form = TextForm.of(of('a'), 'a', eventOf('a', '"n":[1]'), undefined) ?? assert.fail();
    const passed: Buffer[] = [];
    assert.equal(form.textOf(of('Hé')), 'Hé');
    form.addShown(of('Hé'), passed);
    assert.equal(Buffer.concat(passed).toString(), eventOf('Hé', '"n":[1]').toString());
  });

  it('does not tell an event that may hold the credential', () => {
    const form = formOf(redactionOf('sk-secret/0123456789'));
    assert.equal(form.textOf(eventOf('sk-other/0123456789')), 'sk-other/0123456789');
    for (const spelled of ['sk-secret/0123456789', 'sk-secret\\/0123456789', '\\u0073k-secret/0123456789']) {
      assert.equal(form.textOf(eventOf(`a ${spelled} b`)), undefined, spelled);
    }
    const event = eventOf('Hi');
    assert.equal(TextForm.of(event, 'Hi', event, redactionOf('sk"secret"0123456789')), undefined);
  });
});

describe('a stream of which most events are told by their form', () => {
  const texts = Array.from({ length: 12 }, (_, index) => WORDS[index % 4] + String(index));

  /** The same events, no two of which after each other have the same form. */
  const alternated = (events: readonly string[]) =>
    events.map((event, index) => (index % 2 === 0 ? event : event.replace('data: ', 'data:')));

  for (const from of TRANSLATED) {
    const events = MOCK_SURFACES[from].stream(texts);
    const to = from === 'chat' ? 'messages' : 'chat';

    it(`of ${from} says the same as one that is parsed, whatever happened to its bytes`, async () => {
      for (const seed of seedsUpTo(300)) {
        const random = randomFrom(seed);
        const damaged = [...events];
        for (let count = seed % 4; count > 0; count -= 1) {
          const index = Math.floor(random() * damaged.length);
          const event = damaged[index] as string;
          const at = Math.floor(random() * (event.length - 2));
          const put = PUT[Math.floor(random() * PUT.length)] ?? '';
          damaged[index] = event.slice(0, at) + put + event.slice(at + Math.floor(random() * 2));
        }
        const read = async (list: readonly string[]) => {
          const native = formatOf(from).openStream({ showsUsage: true, choices: 1 });
          const passed = Buffer.concat([native.push(Buffer.from(list.join(''))), native.end()]).toString();
          const translated = createStreamTranslator(from, to, notesWith());
          const shown = Buffer.concat([translated.push(Buffer.from(list.join(''))), translated.end()]);
          const { usage, hasContent, hasReasoning, isComplete, isUsageFinal, upstreamError } = native;
          const facts = { usage, hasContent, hasReasoning, isComplete, isUsageFinal, upstreamError };
          const tokens = await native.countGenerated(countTokens);
          return { passed: passed.replaceAll('data: ', 'data:'), shown: shown.toString(), facts, tokens };
        };
        assert.deepEqual(await read(damaged), await read(alternated(damaged)), `seed ${seed}`);
      }
    });
  }
});
