import assert from 'node:assert/strict';
import { it } from 'node:test';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';

// Random bodies in every spelling that JSON allows. What the provider gets must mean what the caller sent but for the
// changes that are documented, and every byte outside of them must be the caller's.

const BODIES = 2_000;

/** Numbers from 0 to 1, the same for a seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Writer {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = mulberry32(seed);
  }

  one<T>(options: readonly T[]): T {
    return options[Math.floor(this.#random() * options.length)] as T;
  }

  space(): string {
    return this.one(['', '', '', ' ', '\n', '\t\r\n  ']);
  }

  string(text: string): string {
    const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return this.#random() < 0.1 ? `"${text.replace(/[a-z]/, escaped)}"` : JSON.stringify(text);
  }

  value(depth = 0): string {
    const leaf = () =>
      this.one(['9007199254740993', '1.0', '-0', '1E400', 'true', 'null', '"é☕\\"}],:{["', '"\\\\"', '""']);
    if (depth > 3 || this.#random() < 0.5) return leaf();
    const items = Array.from({ length: this.one([0, 1, 2, 3]) }, () => this.value(depth + 1));
    return this.#random() < 0.5
      ? `[${this.space()}${items.join(`${this.space()},`)}${this.space()}]`
      : this.object(items.map((item, index) => [this.one(['model', 'max_tokens', 'x']) + index, item]));
  }

  object(members: readonly (readonly [name: string, json: string])[]): string {
    const written = members.map(
      ([name, json]) =>
        `${this.space()}${this.string(name)}${this.space()}:${this.space()}${json}${this.space()}`,
    );
    return `{${written.join(',') || this.space()}}`;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => [this.#random(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  }

  body(): string {
    const optional = (...members: (readonly [string, string])[]) =>
      members.filter(() => this.#random() < 0.5);
    const usage = this.shuffled(
      optional(['include_usage', this.one(['true', 'false', 'null'])], ['other', this.value()]),
    );
    const members = this.shuffled([
      ['model', this.string('m')] as const,
      ['messages', `[${this.object([['content', this.value()]])}]`] as const,
      ...optional(
        ['max_tokens', this.one(['7', 'null', '1e2'])],
        ['max_completion_tokens', this.one(['8', 'null'])],
        ['stream', this.one(['true', 'false', 'null'])],
        ['stream_options', this.one(['null', this.object(usage)])],
        ['n', this.one(['1', '2', 'null'])],
        ['__proto__', this.value()],
        ['metadata', this.value()],
        ['é', this.value()],
        ['', this.value()],
      ),
    ]);
    return `${this.space()}${this.object(members)}${this.space()}`;
  }
}

type Body = Record<string, unknown>;

it(`${BODIES} random bodies reach the provider as they were but for the documented changes`, async () => {
  for (let seed = 1; seed <= BODIES; seed += 1) {
    const writer = new Writer(seed);
    const sent = writer.body();
    const limit = writer.one(['max_tokens', 'max_completion_tokens', 'both'] as const);
    const call = (await callsOf('chat', sent))();
    const target = { upstreamModel: 'up "☕"', outputCap: 5, outputLimit: limit };
    const upstream = upstreamBody('chat', call, target);
    const caller = JSON.parse(sent) as Body;

    const { max_tokens: _, max_completion_tokens: __, ...kept } = caller;
    const expected: Body = {
      ...kept,
      model: 'up "☕"',
      ...(limit !== 'max_completion_tokens' && { max_tokens: 5 }),
      ...(limit !== 'max_tokens' && { max_completion_tokens: 5 }),
    };
    if (caller['stream'] === true) {
      expected['stream_options'] = { ...(caller['stream_options'] as object | null), include_usage: true };
    }
    assert.deepEqual(JSON.parse(upstream), expected, `seed ${seed}: ${sent}`);
    assert.equal(withoutChanges(upstream), withoutChanges(sent), `seed ${seed}: ${sent}`);
  }
});

const MARK = '¤';

/** The text without what may be changed; what is left must be the same, byte for byte. */
function withoutChanges(json: string): string {
  const name = (text: string) =>
    `"${text.replace(/[a-z]/g, (letter) => `(?:${letter}|\\\\u00${letter.charCodeAt(0).toString(16)})`)}"`;
  const cap = `(?:${name('max_tokens')}|${name('max_completion_tokens')})\\s*:\\s*(?:\\d\\w*|null)`;
  const usage = `${name('include_usage')}\\s*:\\s*(?:true|false|null)`;
  return (
    json
      .replaceAll('"up \\"☕\\""', MARK)
      .replace(new RegExp(`(${name('model')}\\s*:\\s*)"(?:m|\\\\u006d)"`), `$1${MARK}`)
      // Added beside the model.
      .replace(/¤((?:,"max_(?:completion_)?tokens":5)*)(,"stream_options":\{"include_usage":true\})?/, MARK)
      .replace(new RegExp(`\\s*,\\s*${cap}`, 'g'), '')
      .replace(new RegExp(`${cap}\\s*,\\s*`, 'g'), '')
      .replace(new RegExp(`${usage}(,?)`, 'g'), '')
      .replace(new RegExp(`(${name('stream_options')}\\s*:\\s*)(?:null|\\{\\})`), '$1')
  );
}
