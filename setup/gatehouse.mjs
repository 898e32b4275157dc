#!/usr/bin/env node
// `npx gatehouse` in a clone: installs missing packages, then runs the command with the installed Node 24. Plain JavaScript,
// because it starts on the system's Node 20. The root package.json names it as `bin`, so that npx finds it before anything
// is installed and never downloads a package of that name.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const setup = dirname(fileURLToPath(import.meta.url));
const root = join(setup, '..');

// Its messages go to standard error, because standard output belongs to the command.
const install = [join(setup, 'install.mjs'), ...(process.argv[2] === 'start' ? ['--for-start'] : [])];
const installed = spawnSync(process.execPath, install, { stdio: ['ignore', 2, 2] });
if (installed.status === 0) {
  const ownNode = join(root, 'node_modules', '.bin', 'node');
  // The same heap limits as `npm start`; the large young generation holds short-lived request data.
  const memory = ['--max-old-space-size=1024', '--max-semi-space-size=64'];
  const command = [...memory, join(root, 'cli', 'bin', 'gatehouse.mjs'), ...process.argv.slice(2)];
  const child = spawn(existsSync(ownNode) ? ownNode : process.execPath, command, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`gatehouse: Node cannot be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  // A terminal sends SIGINT to the whole process group; other signals reach only this process and are forwarded.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === 'SIGINT' ? 2 : 15);
  });
} else {
  process.exitCode = 1;
}
