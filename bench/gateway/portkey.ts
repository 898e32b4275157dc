import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@gatehouse/http/testing';
import type { Subject } from './load.ts';
import type { Kind } from './options.ts';
import { accepts, type StartedProgram, startProgram } from './started-program.ts';
import { runProgram } from './tools.ts';

// Portkey's open-source gateway from npm. It has a package and a lockfile of its own, so that it is no part of the product's.
// @hono/node-server is pinned there: with later versions its streams answer 500.

const directory = join(import.meta.dirname, 'reference');
const program = join(directory, 'node_modules/@portkey-ai/gateway/build/start-server.js');
const lockFile = join(directory, 'package-lock.json');
const stampFile = join(directory, 'node_modules/.installed-lock.json');

const INSTALL_LIMIT_MS = 300_000;

/** Installs it when it is missing or the lockfile has changed. */
async function install(): Promise<void> {
  const wanted = await readFile(lockFile);
  if ((await readFile(stampFile).catch(() => undefined))?.equals(wanted)) return;
  const options = ['--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    await runProgram('npm', ['ci', ...options], INSTALL_LIMIT_MS, process.env);
  } catch (error) {
    throw new Error(
      'Portkey was not installed. Check the network and the npm registry, or leave it out with --without portkey.',
      { cause: error },
    );
  }
  await writeFile(stampFile, wanted);
}

export async function startPortkey(
  into: string,
  upstreams: Readonly<Record<Kind, number>>,
): Promise<StartedProgram & { readonly subjects: Readonly<Record<Kind, Subject>> }> {
  await install();
  const port = await freePort();
  const started = await startProgram({
    command: process.execPath,
    args: [program, `--port=${port}`, '--headless'],
    cwd: into,
    outputFile: join(into, 'portkey.log'),
    environment: { NODE_ENV: 'production' },
    isReady: () => accepts(port),
  });
  const subject = (kind: Kind): Subject => ({
    name: 'Portkey',
    ports: { json: port, sse: port },
    models: { json: 'm', sse: 'm' },
    pid: started.pid,
    headers: {
      authorization: 'Bearer unused',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreams[kind]}/v1`,
    },
  });
  return { ...started, subjects: { json: subject('json'), sse: subject('sse') } };
}
