#!/usr/bin/env node
// `npx gatehouse` in a clone: installs what is missing, then runs the command with the Node that was installed. Plain
// JavaScript for the system's Node 20. The root package.json names it, so that npx finds it here before anything is
// installed and never looks for a package of that name elsewhere.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const setup = dirname(fileURLToPath(import.meta.url));
const root = join(setup, '..');

// What it says goes to standard error: standard output is the command's own.
const installed = spawnSync(process.execPath, [join(setup, 'install.mjs')], { stdio: ['ignore', 2, 2] });
if (installed.status === 0) {
  const ownNode = join(root, 'node_modules', '.bin', 'node');
  // As `npm start` has it: bounded, and with room for what lives for one request only.
  const memory = ['--max-old-space-size=1024', '--max-semi-space-size=64'];
  const command = [...memory, join(root, 'cli', 'bin', 'gatehouse.mjs'), ...process.argv.slice(2)];
  const child = spawn(existsSync(ownNode) ? ownNode : process.execPath, command, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`gatehouse: Node cannot be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  // A terminal sends its signals to the whole group; others are sent to this process alone.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === 'SIGINT' ? 2 : 15);
  });
} else {
  process.exitCode = 1;
}
