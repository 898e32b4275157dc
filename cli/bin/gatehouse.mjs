#!/usr/bin/env node
// Plain JavaScript, because an older Node could not even read the TypeScript that follows, and would say so badly.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import * as modules from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { usePackages } from '../../setup/locks.mjs';

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
  // Node keeps what it compiled, also for the processes that this one starts: a start takes half of the processor time. Where the folder
  // cannot be written, every start compiles.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/gatehouse-compiled');
  modules.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  const directory = modules.getCompileCacheDir();
  if (process.argv[2] === 'start' && directory !== undefined && readdirSync(directory).length === 0)
    compile();
  const { main } = await import('../src/main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

/** Before the first start, in a process of its own (compile-start.mjs). Where it fails, the start compiles. */
function compile() {
  const program = `await import(${JSON.stringify(new URL('compile-start.mjs', import.meta.url))}).catch(() => undefined)`;
  spawnSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' });
}
