import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import { compileTestFiles } from './compile-cache.ts';

const ofRun = process.env['NODE_COMPILE_CACHE'];
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-compile-'));
  process.env['NODE_COMPILE_CACHE'] = join(directory, 'cache');
});
after(async () => {
  if (ofRun === undefined) delete process.env['NODE_COMPILE_CACHE'];
  else process.env['NODE_COMPILE_CACHE'] = ofRun;
  await rm(directory, { recursive: true });
});

it('keeps the code of test files, stripped and compiled, without running them', async () => {
  const kept = async () => (await readdir(join(directory, 'cache'), { recursive: true })).length;
  const file = join(directory, 'one.test.ts');
  const trace = join(directory, 'trace');
  await writeFile(
    file,
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(trace)}, '' as string);\n`,
  );
  await compileTestFiles([]);
  const ofProgram = await kept();
  await compileTestFiles([file, join(directory, 'missing.test.ts')]);
  assert.ok((await kept()) >= ofProgram + 2);
  await assert.rejects(access(trace), { code: 'ENOENT' });
});

it('keeps the code of the command with its program', async () => {
  const root = join(import.meta.dirname, '..');
  const look = `import { getCompileCacheDir } from 'node:module';
    process.on('exit', () => process.stderr.write(String(getCompileCacheDir())));`;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(look)}`, 'cli/bin/gatehouse.mjs', '--version'],
    { cwd: root, env: { PATH: '' } },
  );
  assert.match(stderr.slice(root.length), /^\/cli\/dist\/[^/]+\/compiled\/v/);
});
