import assert from 'node:assert/strict';
import { it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { RandomJson } from '../../testing/random-json.ts';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';

// Random bodies in every spelling that JSON allows. What the provider gets must mean what the caller sent but for the
// changes that are documented, and every byte outside of them must be the caller's.

const BODIES = 2_000;

class Writer extends RandomJson {
  body(): string {
    const usage = this.shuffled(
      this.some<readonly [string, string]>(
        ['include_usage', this.one(['true', 'false', 'null'])],
        ['other', this.value()],
      ),
    );
    const members = this.shuffled([
      ['model', this.string('m')] as const,
      ['messages', `[${this.object([['content', this.value()]])}]`] as const,
      ...this.some<readonly [string, string]>(
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
  for (const seed of seedsUpTo(BODIES)) {
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
