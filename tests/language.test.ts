import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';

// The words of this project are the field's standard terms (docs/glossary.md). This test keeps out the words that were replaced, with
// the standard term beside each.

const root = join(import.meta.dirname, '..');

/** Phrases that occur nowhere: not in names, comments, messages or docs. A name is read as its words: `inLine` is "in line". */
const REPLACED: readonly (readonly [banned: RegExp, standard: string])[] = [
  [/\bpatien(?:ce|tly)\b/, 'timeout'],
  [/\bguests?\b/, 'follower'],
  [/\bprocess marks?\b|\bserver marks?\b/, 'process identity'],
  [/\badopt(?:s|ed|er|ers|ing|ion)?\b/, 'recover, segment recovery'],
  [/\bin (?:the )?line\b|\bline (?:is )?full\b|\bplaces? in (?:the|a) line\b/, 'queue, permit'],
  [/\bfair shares?\b/, 'fair scheduler'],
  [/\bcreditors?\b|\bowes\b/, 'sink, pending sinks'],
  [/\bput by\b/, 'dead letter'],
  [/\bfarewells?\b/, 'final event'],
  [/\bbreaks? off\b|\bbroken off\b/, 'abort'],
  [/\brulings?\b|\bverdicts?\b/, 'decision'],
  [/\bflaws?\b/, 'issue, error'],
  [/\baskers?\b|\binquir(?:y|ies)\b/, 'query session, query'],
  [/\bhouseholds?\b|\bhousekeeping\b|\bchores?\b/, 'maintenance, periodic job'],
  [
    /\bsurroundings\b|\bsightings?\b|\bstrays?\b|\bremnants?\b/,
    'environment, server status, orphaned, leftovers',
  ],
  [
    /\bwounded\b|\bheal(?:s|ed|ing)?\b|\bnudg(?:e|es|ed|ing)\b|\bhurr(?:y|ies|ied)\b/,
    'truncated, truncate, wake',
  ],
  [/\buniverses?\b/, 'crash simulator'],
  [/\bsums of (?:whole )?hours\b/, 'hourly rollup'],
  [/\bmistakes? of ours\b|\bour own mistakes?\b/, 'internal error'],
  [/\b(?:brought|brings?|bringing) (?:\w+ )?up to date\b/, 'migrated'],
  [/\bsave that\b|\banew\b|\bas good as\b/, 'plain present-day English'],
  [/\bwhoever\b|\bsomebody\b/, 'the caller, a person: by what each is'],
];

/** Names of types and values that say nothing: by what each is. */
const VAGUE_NAMES = /\b(?:Parts|Place|Wish|Refusal|Verdict|Patience|World|Ending|Chore|Keeping|Strays)\b/;

/** A comment begins with its subject: "Failed attempts that were retried.", not "Those that failed and were followed by another." */
const BARE_OPENING = /\/\*\*\s*\n?\s*\*?\s*(?:What|Whether|Those|So|Of|Where|That|Who|Which|It)\b[^\n]*/g;

/** One prefix for every maximum, and one for every minimum. */
const OTHER_PREFIXES =
  /\b(?:MOST|LARGEST|LONGEST|BIGGEST|HIGHEST|LEAST|SMALLEST|SHORTEST|FEWEST|LOWEST)_[A-Z]\w*/g;

/** Files in which a banned word is another's: a protocol's, a wire value, a file that cannot change. */
const EXCEPTIONS: readonly RegExp[] = [
  // Applied migrations keep their bytes.
  /^store\/src\/(?:postgres|clickhouse)\/migrations\//,
  /^tests\/language\.test\.ts$/,
  /^tests\/mutants\/.*\.patch$/,
  /^CHANGELOG\.md$/,
];

interface Source {
  readonly path: string;
  readonly text: string;
}

let sources: Source[] = [];

/** The text as it is read aloud: names as words, lower-case, without line breaks in sentences. */
function readAloud(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]/g, ' ')
    .toLowerCase()
    .replaceAll(/\n[^\S\n]*(?:\/\/|\*|#)?[^\S\n]*/g, '\n');
}

/** Words that are not ours: a method of JavaScript's stacks, and the file names that earlier versions wrote. */
function withoutForeignWords(text: string): string {
  return text.replaceAll('.adopt(', '(').replaceAll(/\bowes[-[]|\.owes\b/g, '');
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

describe('the language', () => {
  before(async () => {
    const paths = await Array.fromAsync(
      glob('{*,*/**/*}.{ts,tsx,mjs,md,sql,json,yaml}', {
        cwd: root,
        exclude: (path) =>
          /(?:^|\/)(?:node_modules|data|dist)(?:\/|$)|^package-lock\.json$/.test(String(path)),
      }),
    );
    sources = await Promise.all(
      paths
        .filter((path) => !EXCEPTIONS.some((exception) => exception.test(path)))
        .map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })),
    );
    assert.ok(sources.length > 300, 'the sources were not found');
  });

  for (const [banned, standard] of REPLACED) {
    it(`says ${standard}, not ${banned.source}`, () => {
      const offenders = sources.flatMap(({ path, text }) => {
        const read = readAloud(withoutForeignWords(text));
        return [...read.matchAll(new RegExp(banned, 'g'))].map(
          ({ 0: word, index }) => `${path}:${lineOf(read, index)} ${word}`,
        );
      });
      assert.deepEqual(offenders, []);
    });
  }

  it('names what a thing is', () => {
    const offenders = sources
      .filter(({ path }) => path.endsWith('.ts'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\b(?:class|interface|type) (\w+)/g)]
          .map((match) => match[1] ?? '')
          .filter((name) => VAGUE_NAMES.test(name))
          .map((name) => `${path}: ${name}`),
      );
    assert.deepEqual(offenders, []);
  });

  for (const [rule, offence] of [
    ['begins a comment with its subject', BARE_OPENING],
    ['names maximums MAX_ and minimums MIN_', OTHER_PREFIXES],
  ] as const) {
    it(rule, () => {
      const offenders = sources
        .filter(({ path }) => /\.(?:ts|tsx|mjs)$/.test(path))
        .flatMap(({ path, text }) =>
          [...text.matchAll(offence)].map(({ 0: found, index }) => `${path}:${lineOf(text, index)} ${found}`),
        );
      assert.deepEqual(offenders, []);
    });
  }
});
