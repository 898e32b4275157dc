import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findProgram, keepProgram, programsOf, useProgram } from '../bin/program.mjs';

const SOURCES = ['one.ts', 'two.ts'];
// The files of the test are new, so the program is begun later.
const begun = () => Math.floor(Date.now() / 1000) + 10;

/** A project of two files, and a program that was made of them. */
async function withProgram() {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-program-'));
  for (const path of SOURCES) await writeFile(join(root, path), path);
  const make = async (folder: string, second = begun()) => {
    await mkdir(join(programsOf(root), folder), { recursive: true });
    await writeFile(join(programsOf(root), folder, 'main.mjs'), folder);
    return keepProgram(root, { folder, begun: second, inputs: SOURCES, outputs: ['main.mjs'] });
  };
  assert.ok(await make('first'));
  return { root, make, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

describe('the program of the command', () => {
  it('is found while its sources are as they were, to the second', async () => {
    await using project = await withProgram();
    const path = join(project.root, 'one.ts');
    const { mtimeMs } = await stat(path);
    await utimes(path, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000));
    assert.equal(findProgram(project.root), join(programsOf(project.root), 'first'));
    assert.equal(findProgram(`${project.root}/`), join(programsOf(project.root), 'first'));
  });

  for (const [title, breakIt] of [
    ['a source of another size', (root) => writeFile(join(root, 'two.ts'), 'two')],
    ['a source that was changed at another time', (root) => utimes(join(root, 'two.ts'), begun(), begun())],
    ['a source that is gone', (root) => rm(join(root, 'one.ts'))],
    ['a file of it that is gone', (root) => rm(join(programsOf(root), 'first/main.mjs'))],
    ['a file of it that is empty', (root) => writeFile(join(programsOf(root), 'first/main.mjs'), '')],
    ['a record that is cut', (root) => writeFile(join(programsOf(root), 'current.json'), '{"root":')],
  ] satisfies [string, (root: string) => Promise<void>][]) {
    it(`is not used with ${title}`, async () => {
      await using project = await withProgram();
      await breakIt(project.root);
      assert.equal(findProgram(project.root), undefined);
    });
  }

  it('is not kept where a source was changed in the second in which it was begun, whatever time the source says', async () => {
    await using project = await withProgram();
    const path = join(project.root, 'two.ts');
    await utimes(path, 1, 1);
    const { ctimeMs } = await stat(path);
    assert.equal(await project.make('second', Math.floor(ctimeMs / 1000)), false);
    assert.ok(await project.make('third', Math.floor(ctimeMs / 1000) + 1));
    assert.equal(findProgram(project.root), join(programsOf(project.root), 'third'));
  });

  it('is removed when it is neither used nor the one before', async () => {
    await using project = await withProgram();
    const folders = async () => (await readdir(programsOf(project.root))).sort();
    useProgram(join(programsOf(project.root), 'first'));
    for (const name of ['second', 'third', 'fourth']) assert.ok(await project.make(name));
    assert.deepEqual(await folders(), ['current.json', 'first', 'fourth', 'third']);
  });

  it('names the lines of the sources in its errors', async () => {
    const { stack } = await inProgram(`await main(undefined).catch(({ stack }) => ({ stack }))`);
    assert.match(stack, /\/cli\/src\/commands\/run\.ts:\d+/);
    assert.doesNotMatch(stack, /undefined:NaN/);
  });

  it('has the names of its errors as the sources have them', async () => {
    const root = join(import.meta.dirname, '../..');
    const folder = findProgram(root) ?? assert.fail('the program is not built');
    const files = (await readdir(folder)).filter((name) => name.endsWith('.mjs'));
    assert.ok(files.length > 10);
    for (const name of files) {
      const renamed = (await readFile(join(folder, name), 'utf8')).match(
        /\b\w+Error\d+ = class|class \w+Error\d/,
      );
      assert.equal(renamed, null, name);
    }
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
