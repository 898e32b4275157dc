import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { inspectSettings, misspeltSettings } from '../config/config.ts';
import { readCommandLine } from '../terminal/command-line.ts';
import { table } from './table.ts';

// What the pages tell a reader to set and to run: settings that exist with values that the start accepts, and commands with
// options that exist. What a block of settings names beside these is a provider's key.

const root = join(import.meta.dirname, '../../..');
const SETTING = /^([A-Z][A-Z0-9_]*)=('[^']*'|\S*)$/;
const SHELL = ['', 'bash', 'sh'];
const PROVIDER_KEY = /^[A-Z0-9_]+_API_KEY$/;
/** A word that stands for what the reader has: `NAME`, `…`, `<id>`. */
const PLACEHOLDER = /^(?:[A-Z][A-Z_-]*|\.{3}|…|<.*)$/;
/** Settings that a start would ask for as well. A page on one subject leaves it to the others; docs/deployment.md must be enough. */
const ASKS_FOR_MORE = /, so choose | must be (?:chosen|set) /;
const ENOUGH = 'docs/deployment.md';

let pages: { readonly path: string; readonly text: string }[] = [];
let known: ReadonlySet<string>;

interface Block {
  readonly where: string;
  readonly lines: readonly string[];
}

function blocks(): Block[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
      .filter(([, language = '']) => SHELL.includes(language))
      .map(([, , content = ''], index) => ({
        where: `${path}, block ${index + 1}`,
        lines: content.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')),
      })),
  );
}

/** The value as a shell and a file of settings read it. */
function unquoted(text: string): string {
  return /^'(.*)'$/.exec(text)?.[1] ?? text;
}

/** The words after `gatehouse`, up to a comment, a pipe or a redirection. */
function wordsOf(line: string): string[] | undefined {
  const [, rest] = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx )?gatehouse((?: |$).*)/.exec(line) ?? [];
  const words = rest?.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const end = words.findIndex((word) => /^(?:#|\||>|<$|&&|\\|2>)/.test(word));
  const own = words.slice(0, end < 0 ? words.length : end);
  // An optional word is in brackets, and one of several has bars.
  return rest === undefined ? undefined : own.map((word) => word.replace(/^\[/, '').replace(/[|\]].*$/, ''));
}

describe('the pages', () => {
  before(async () => {
    const paths = await Array.fromAsync(glob('{README.md,docs/**/*.md}', { cwd: root }));
    pages = await Promise.all(
      paths.sort().map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })),
    );
    const example = await readFile(join(root, '.env.example'), 'utf8');
    known = new Set([...example.matchAll(/^#([A-Z][A-Z0-9_]*)=$/gm)].map(([, name]) => name ?? ''));
  });

  it('set what exists to values that the start accepts', () => {
    const wrong: string[] = [];
    let count = 0;
    for (const { where, lines } of blocks()) {
      if (lines.length === 0 || !lines.every((line) => SETTING.test(line) && !line.includes('$('))) continue;
      if (where.startsWith('docs/clients/')) continue;
      const pairs = lines.map((line) => SETTING.exec(line) as unknown as [string, string, string]);
      const environment = Object.fromEntries(pairs.map(([, name, value]) => [name, unquoted(value)]));
      const unknown = pairs.filter(([, name]) => !known.has(name) && !PROVIDER_KEY.test(name));
      const issues = [
        ...unknown.map(([, name]) => `${name} is no setting`),
        ...inspectSettings(environment).issues.filter(
          (issue) => where.startsWith(ENOUGH) || !ASKS_FOR_MORE.test(issue),
        ),
        ...misspeltSettings(environment).map(({ name }) => `${name} is misspelt`),
      ];
      wrong.push(...issues.map((issue) => `${where}: ${issue}`));
      count += 1;
    }
    assert.deepEqual(wrong, []);
    assert.ok(count >= 8, `${count} blocks`);
  });

  it('name commands with options that exist', () => {
    const wrong: string[] = [];
    let count = 0;
    const inline = pages.flatMap(({ path, text }) =>
      [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, line = '']) => ({
        where: path,
        line,
      })),
    );
    const inBlocks = blocks().flatMap(({ where, lines }) => lines.map((line) => ({ where, line })));
    for (const { where, line } of [...inline, ...inBlocks]) {
      const words = wordsOf(line);
      if (words === undefined || words.length === 0) continue;
      count += 1;
      try {
        // For its help, a command needs none of its arguments.
        const given = words.filter(
          (word, index) => !PLACEHOLDER.test(word) || words[index - 1]?.startsWith('--'),
        );
        readCommandLine([...given, '--help'], table);
      } catch (error) {
        wrong.push(`${where}: ${line}: ${(error as Error).message}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(count > 60, `${count} commands`);
  });
});
