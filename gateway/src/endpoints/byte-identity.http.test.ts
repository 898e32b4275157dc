import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { useBench } from '../testing/bench.ts';
import { json } from '../testing/mock-provider.ts';
import { RandomJson } from '../testing/random-json.ts';
import { addRoute } from '../testing/test-gateway.ts';

// Where caller and provider speak the same format, the provider sees the caller's bytes. What differs is written down
// here, member by member, and nowhere computed by the code that makes the changes.

const BODIES = 60;

interface Native {
  readonly path: string;
  readonly protocol: 'openai' | 'anthropic';
  /** Members that a body must have, besides the model. */
  readonly required: (writer: RandomJson) => readonly Member[];
  /** The output cap's name at the caller and at the provider; undefined where nothing is generated. */
  readonly cap?: readonly [callers: string, providers: string];
  /** The cap that is sent where the caller names none: the route's, or less where the format has a default. */
  readonly defaultCap?: number;
  readonly isCapRequired?: true;
  /** True if a stream's usage must be asked for. */
  readonly asksForUsage?: true;
  readonly streams: boolean;
}
type Member = readonly [name: string, json: string];

const message = (writer: RandomJson): string =>
  writer.object(
    writer.shuffled([
      ['role', '"user"'],
      ['content', writer.one(['"Hi"', '"\\u0048i é☕"', '[ {"type":"text" ,"text":"\\/"} ]'])],
    ]),
  );
const messages = (writer: RandomJson): readonly Member[] => [['messages', `[${message(writer)}]`]];

const NATIVE: Readonly<Record<string, Native>> = {
  chat: {
    ...{ path: '/chat/completions', protocol: 'openai', required: messages, streams: true },
    ...{ cap: ['max_tokens', 'max_completion_tokens'], defaultCap: 1_000 },
    asksForUsage: true,
  },
  completions: {
    ...{ path: '/completions', protocol: 'openai', streams: true, asksForUsage: true },
    required: (writer) => [['prompt', writer.one(['"Hi"', '[ "a" , "b" ]', '[1,2]'])]],
    ...{ cap: ['max_tokens', 'max_tokens'], defaultCap: 16 },
  },
  embeddings: {
    ...{ path: '/embeddings', protocol: 'openai', streams: false },
    required: (writer) => [['input', writer.one(['"Hi"', '[ "a" , "b" ]', '[1,2]'])]],
  },
  responses: {
    ...{ path: '/responses', protocol: 'openai', streams: true },
    required: (writer) => [['input', writer.one(['"Hi"', `[${message(writer)}]`])]],
    ...{ cap: ['max_output_tokens', 'max_output_tokens'], defaultCap: 1_000 },
  },
  messages: {
    ...{ path: '/messages', protocol: 'anthropic', required: messages, streams: true },
    ...{ cap: ['max_tokens', 'max_tokens'], isCapRequired: true },
  },
  count_tokens: {
    ...{ path: '/messages/count_tokens', protocol: 'anthropic', required: messages, streams: false },
  },
};

const bench = await useBench();

describe('the bytes of a caller', () => {
  before(async () => {
    bench.provider.script = json({ error: { message: 'seen' } }, 400);
    for (const [endpoint, { path, protocol }] of Object.entries(NATIVE)) {
      await addRoute(bench.database, {
        ...{ id: `mock/${endpoint}`, protocol, baseUrl: bench.provider.baseUrl },
        endpoints: [endpoint === 'count_tokens' ? 'messages' : endpoint],
        flags: { surfaces: { [endpoint]: path } },
      });
    }
  });

  for (const [endpoint, native] of Object.entries(NATIVE)) {
    it(`400 of the provider for ${BODIES} random bodies, seen as they were but for the documented changes: ${endpoint}`, async () => {
      for (const seed of seedsUpTo(BODIES)) {
        const { sent, expected } = randomBody(new RandomJson(seed), endpoint, native);
        const headers = { authorization: `Bearer ${bench.key.secret}` };
        const response = await bench.gateway.fetch(`/v1${native.path}`, {
          ...{ method: 'POST', headers, body: sent },
        });
        assert.equal(response.status, 400, `seed ${seed}: ${sent}`);
        assert.match(await response.text(), /seen/, `seed ${seed}: ${sent}`);
        assert.equal(bench.provider.asked.at(-1)?.text, expected, `seed ${seed}`);
      }
    });
  }
});

function randomBody(writer: RandomJson, endpoint: string, native: Native) {
  const { cap, required, streams, asksForUsage } = native;
  const hasCap = cap !== undefined && (native.isCapRequired === true || writer.chance(0.5));
  const isStream = streams && writer.chance(0.5);
  const saysUsage = asksForUsage === true && isStream && writer.chance(0.5);
  const members = writer.shuffled<Member>([
    ['model', `"mock/${endpoint}"`],
    ...required(writer),
    ...(hasCap ? [[cap[0], '7'] as const] : []),
    ...(isStream ? [['stream', 'true'] as const] : []),
    ...(saysUsage ? [['stream_options', '{ "include_usage" :true,"x":1.0 }'] as const] : []),
    ...(writer.chance(0.5) ? [['__proto__', writer.value()] as const] : []),
    ...(writer.chance(0.5) ? [['x_metadata', writer.value()] as const] : []),
    ...(writer.chance(0.5) ? [['é', writer.value()] as const] : []),
    ...(writer.chance(0.5) ? [['', writer.value()] as const] : []),
  ]);
  const beside = [
    ...(cap && !hasCap ? [`,"${cap[1]}":${native.defaultCap}`] : []),
    ...(asksForUsage && isStream && !saysUsage ? [',"stream_options":{"include_usage":true}'] : []),
  ].join('');
  const outside = [writer.space(), writer.space()];
  const sent: string[] = [];
  const expected: string[] = [];
  for (const [name, value] of members) {
    const key = writer.string(name);
    const [before, between, after, behind] = [writer.space(), writer.space(), writer.space(), writer.space()];
    sent.push(`${before}${key}${between}:${after}${value}${behind}`);
    if (name === 'model') {
      expected.push(`${before}${key}${between}:${after}"upstream-model"${beside}${behind}`);
    } else if (cap && name === cap[0] && name !== cap[1]) {
      expected.push(`${before}"${cap[1]}":7${behind}`);
    } else {
      expected.push(sent.at(-1) ?? '');
    }
  }
  const whole = (parts: readonly string[]) => `${outside[0]}{${parts.join(',')}}${outside[1]}`;
  return { sent: whole(sent), expected: whole(expected) };
}
