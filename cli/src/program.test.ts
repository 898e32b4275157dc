import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findProgram, keepProgram, programsOf } from '../bin/program.mjs';

const BEGUN = 1_790_000_000;
const EARLIER = BEGUN - 1;

/** A project of two files, and a program that was made of them. */
async function withProgram() {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-program-'));
  const change = async (path: string, text: string, second: number) => {
    await writeFile(join(root, path), text);
    await utimes(join(root, path), second, second);
  };
  await change('one.ts', 'one', EARLIER);
  await change('two.ts', 'two', EARLIER);
  const make = async (folder: string) => {
    await mkdir(join(programsOf(root), folder), { recursive: true });
    keepProgram(root, { folder, begun: BEGUN, inputs: ['one.ts', 'two.ts'] });
  };
  await make('first');
  return {
    root,
    change,
    make,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

describe('the program of the command', () => {
  it('is found while its sources are as they were', async () => {
    await using project = await withProgram();
    assert.equal(findProgram(project.root), join(programsOf(project.root), 'first'));
    // As a copy without fractions of seconds has it.
    await project.change('one.ts', 'one', EARLIER);
    assert.equal(findProgram(project.root), join(programsOf(project.root), 'first'));
  });

  for (const [title, breakIt] of [
    ['a source of another size', ({ change }) => change('two.ts', 'three', EARLIER)],
    ['a source that was changed later', ({ change }) => change('two.ts', 'TWO', BEGUN + 5)],
    ['a source that is gone', ({ root }) => rm(join(root, 'one.ts'))],
    ['a program that is gone', ({ root }) => rm(join(programsOf(root), 'first'), { recursive: true })],
    ['a record that is cut', ({ root }) => writeFile(join(programsOf(root), 'current.json'), '{"root":')],
  ] satisfies [string, (project: Awaited<ReturnType<typeof withProgram>>) => Promise<void>][]) {
    it(`is not used with ${title}`, async () => {
      await using project = await withProgram();
      await breakIt(project);
      assert.equal(findProgram(project.root), undefined);
    });
  }

  it('is not used where a source was changed in the second in which it was begun', async () => {
    await using project = await withProgram();
    await project.change('two.ts', 'two', BEGUN);
    await project.make('second');
    assert.equal(findProgram(project.root), undefined);
  });

  it('leaves the program of a service that runs, and those that are being made', async () => {
    await using project = await withProgram();
    const folders = async () => (await readdir(programsOf(project.root))).sort();
    const age = (folder: string) => utimes(join(programsOf(project.root), folder), EARLIER, EARLIER);
    await mkdir(join(programsOf(project.root), 'another process is making it'));
    await age('first');
    await project.make('second');
    assert.deepEqual(await folders(), ['another process is making it', 'current.json', 'first', 'second']);
    await age('second');
    await project.make('third');
    assert.deepEqual(await folders(), ['another process is making it', 'current.json', 'second', 'third']);
  });

  it('names the lines of the sources in its errors', async () => {
    const { stack } = await inProgram(`await main(undefined).catch(({ stack }) => ({ stack }))`);
    assert.match(stack, /\/cli\/src\/commands\/run\.ts:\d+/);
    assert.doesNotMatch(stack, /undefined:NaN/);
  });

  it('has the stack of an object without a text', async () => {
    const { stack } = await inProgram(`(Error.captureStackTrace(bare = Object.create(null)), bare)`);
    assert.match(stack, /^Error\n {4}at /);
  });
});

/** The value of an expression in a process that has loaded the program. */
async function inProgram(expression: string): Promise<{ readonly stack: string }> {
  const program =
    findProgram(join(import.meta.dirname, '../..')) ?? assert.fail('the run of the tests builds it');
  const source = `import { main } from ${JSON.stringify(join(program, 'main.mjs'))};
    let bare;
    const { stack } = ${expression};
    process.stdout.write(JSON.stringify({ stack }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source]);
  return JSON.parse(stdout);
}
