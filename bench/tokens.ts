import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { claudeCodeBody } from '@gatehouse/gateway/testing';
import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';

// What it takes to count the tokens of texts, from cheap to as dear as there are, beside the package that the table of tokens comes from
// and that remembers nothing here. Both count the same segments in turn; the best of the rounds counts.
//
//   node bench/tokens.ts [--characters 50000] [--rounds 9] [CHECKOUT]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    characters: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '9' },
  },
});
const characters = Number(options.characters);
const rounds = Number(options.rounds);
const root = positionals[0] === undefined ? join(import.meta.dirname, '..') : resolve(positionals[0]);

interface Counting {
  readonly MAX_COUNTED_CHARACTERS: number;
  countExactly(text: string): number;
}

type Random = (below: number) => number;

let state = 1;
const random: Random = (below) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const made = (one: () => string): string => {
  let text = '';
  while (text.length < characters) text += one();
  return text;
};
const from = (first: number, count: number) => () => String.fromCodePoint(first + random(count));
const agent = JSON.parse(claudeCodeBody({ model: 'm', stream: false })) as {
  system: unknown;
  tools: unknown;
};

const TEXTS: Readonly<Record<string, string>> = {
  'an agent’s instructions': JSON.stringify(agent.system),
  'an agent’s tools': JSON.stringify(agent.tools),
  digits: made(from(0x30, 10)),
  'one letter': made(() => 'a'),
  'random letters': made(from(0x61, 26)),
  'random ideographs': made(from(0x4e00, 20_000)),
  'random pictures': made(from(0x1f300, 700)),
};

async function main(): Promise<void> {
  const module = join(root, 'gateway/src/tokens/exact-count.ts');
  const { countExactly, MAX_COUNTED_CHARACTERS } = (await import(module)) as Counting;
  setMergeCacheSize(0);
  const asPublished = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
  process.stdout.write('| text | ns a character | the package | share |\n| --- | --- | --- | --- |\n');
  for (const [name, text] of Object.entries(TEXTS)) {
    const segments = Array.from({ length: Math.ceil(text.length / MAX_COUNTED_CHARACTERS) }, (_, index) =>
      text.slice(index * MAX_COUNTED_CHARACTERS, (index + 1) * MAX_COUNTED_CHARACTERS).toWellFormed(),
    );
    const nanosOf = (count: (text: string) => number) => {
      const beganAt = performance.now();
      for (const segment of segments) count(segment);
      return ((performance.now() - beganAt) * 1e6) / text.length;
    };
    let [own, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round += 1) {
      own = Math.min(own, nanosOf(countExactly));
      other = Math.min(other, nanosOf(asPublished));
    }
    process.stdout.write(
      `| ${name} | ${own.toFixed(0)} | ${other.toFixed(0)} | ${(own / other).toFixed(2)} |\n`,
    );
  }
}

await main();
