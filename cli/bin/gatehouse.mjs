#!/usr/bin/env node
// Plain JavaScript, because an older Node could not even read the TypeScript that follows, and would say so badly.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { usePackages } from '../../setup/locks.mjs';
import { findProgram, keepCompiledCode, useProgram } from './program.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `gatehouse needs Node 24; this is ${process.version}. Use npm start or npx gatehouse in the project's folder: ` +
      'on Linux with glibc they bring their own Node 24; elsewhere install Node 24 first.\n',
  );
  process.exitCode = 1;
} else if (!usePackages(root)) {
  process.stderr.write(
    'gatehouse: packages are being installed in this folder; try again when that has ended\n',
  );
  process.exitCode = 1;
} else {
  const isStart = process.argv[2] === 'start';
  const program = findProgram(root) ?? (isStart ? buildProgram() : undefined);
  if (isStart && program !== undefined) useProgram(program);
  keepCompiledCode(root, program);
  const main =
    program === undefined
      ? new URL('../src/main.ts', import.meta.url)
      : pathToFileURL(join(program, 'main.mjs'));
  process.exitCode = await (await import(main)).main(process.argv.slice(2));
}

/** Undefined where it cannot be built or written: then the sources run, and say what is wrong with them. */
function buildProgram() {
  spawnSync(process.execPath, [fileURLToPath(new URL('build-program.mjs', import.meta.url))], {
    stdio: 'ignore',
  });
  return findProgram(root);
}
