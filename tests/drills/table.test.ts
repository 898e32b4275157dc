import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { access, glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { childEnvironment } from '../child-environment.ts';
import { listDrills, readDrillCommand, UsageError } from './command-line.ts';
import { DRILLS } from './table.ts';

const root = join(import.meta.dirname, '../..');

describe('the drills', () => {
  it('are those that the pages name', async () => {
    const paths = await Array.fromAsync(glob('{*.md,docs/**/*.md}', { cwd: root }));
    const pages = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')));
    const named = pages.flatMap((page) =>
      [...page.matchAll(/npm run drill -- ([a-z-]+)/g)].map(([, name = '']) => name),
    );
    assert.ok(named.length > 10, `${named.length} names`);
    const names = DRILLS.map(({ name }) => name);
    assert.deepEqual(
      named.filter((name) => !names.includes(name)),
      [],
    );
  });

  it('have a name and a function each', async () => {
    assert.equal(new Set(DRILLS.map(({ name }) => name)).size, DRILLS.length);
    // To load all would load the whole product, so the function is looked for in the text that loads it.
    const source = await readFile(join(import.meta.dirname, 'table.ts'), 'utf8');
    const loads = [...source.matchAll(/import\('(\.\/[^']+)'\)\)\.(\w+)/g)];
    assert.equal(loads.length, DRILLS.length);
    for (const [, file = '', name = ''] of loads) {
      await access(join(import.meta.dirname, file));
      const text = await readFile(join(import.meta.dirname, file), 'utf8');
      assert.match(text, new RegExp(`export const ${name}: Drill\\b`), file);
    }
  });

  it('are listed when none is named', () => {
    const run = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts')], {
      env: childEnvironment(),
      encoding: 'utf8',
    });
    assert.equal(run.status, 0);
    assert.equal(run.stdout, `${listDrills()}\n`);
    for (const { name, about, duration } of DRILLS)
      for (const text of [name, about, duration]) assert.ok(run.stdout.includes(text), text);
  });

  it('are named when another is asked for', () => {
    const command = [join(import.meta.dirname, 'run.ts'), 'no-such-drill'];
    const run = spawnSync(process.execPath, command, { env: childEnvironment(), encoding: 'utf8' });
    assert.equal(run.status, 2);
    assert.ok(run.stderr.includes('no-such-drill'));
    for (const { name } of DRILLS) assert.ok(run.stderr.includes(name), name);
  });

  it('take the number of cycles and the seed', () => {
    const given = readDrillCommand(['fallbacks', '--cycles', '7', '--seed', '3']);
    assert.deepEqual([given?.entry.name, given?.cycles, given?.seed], ['fallbacks', 7, 3]);
    assert.equal(readDrillCommand(['fallbacks'])?.cycles, 10_000);
    assert.equal(readDrillCommand(['outages', '--only', 'redis-slow'])?.only, 'redis-slow');
  });

  for (const [args, expected] of [
    [['credit', '--cycles', '0'], /--cycles is 0/],
    [['credit', '--cycles', '1e3'], /--cycles is 1e3/],
    [['fallbacks', '--seed', 'x'], /--seed is x/],
    [['credit', '--seed', '1'], /has no seed/],
    [['credit', 'rate'], /One drill at a time/],
    [['credit', '--requests', '1'], /Unknown option '--requests'/],
    [['credit', '--only', 'half'], /has no part half/],
    [['outages', '--only', 'moon'], /has no part moon\. Its parts are: postgres-slow, /],
  ] as const) {
    it(`do not start with ${args.join(' ')}`, () => {
      assert.throws(
        () => readDrillCommand(args),
        (error) => error instanceof UsageError && expected.test(error.message),
      );
    });
  }
});
