import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { auth } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { startService } from '@gatehouse/tests/service-process';
import { closeConnections, timedRequest } from './timed-request.ts';

// The time of a failed sign-in for each kind of account, in rotating order. A difference would reveal which addresses have
// accounts. Then the time of other requests while 500 sign in at once, beside a quiet service.
//
//   node bench/sign-in.ts [tries of each kind]

const tries = Number(process.argv[2] ?? 500);
const WAVES = 10;
const AT_ONCE = 500;
const PASSWORD = 'correct horse battery staple';

/** A failed or successful sign-in: its status and how long it took. */
function signIn(port: number, email: string, password: string) {
  return timedRequest(port, 'POST', '/api/auth/login', {
    body: JSON.stringify({ email, password }),
    headers: { 'content-type': 'application/json' },
  });
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const ms = (value: number) => value.toFixed(2);

async function register(port: number): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  await new ApiClient(port).call(auth.register, {
    body: { email, password: PASSWORD, organization_name: `Org ${randomUUID()}` },
  });
  return email;
}

const setState = statement<{ deactivated: string; passwordless: string }>(
  'bench-set-state',
  sql`UPDATE users SET is_active = (email <> ${'deactivated'}),
                       password_hash = CASE WHEN email = ${'passwordless'} THEN NULL ELSE password_hash END
      WHERE email IN (${'deactivated'}, ${'passwordless'})`,
);
const forgetFailures = statement<NoParameters>('bench-forget-failures', sql`DELETE FROM failed_sign_ins`);

async function compareKinds(port: number, dataDir: string): Promise<void> {
  const [known, deactivated, google] = [await register(port), await register(port), await register(port)];
  await using server = await openEmbeddedPostgres({ dataDir });
  await using database = openDatabase(server.connection, { poolSize: 1 });
  await database.run(setState, { deactivated, passwordless: google });
  const kinds: readonly (readonly [kind: string, email: () => string, password: string])[] = [
    ['known, wrong password', () => known, 'wrong'],
    ['unknown', () => `${randomUUID()}@example.com`, 'wrong'],
    ['deactivated, right password', () => deactivated, PASSWORD],
    ['without a password (Google)', () => google, 'wrong'],
  ];
  const times = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]));
  for (let round = 0; round < tries; round += 1) {
    // Rotate the first kind, so that no kind always follows the same one.
    for (let n = 0; n < kinds.length; n += 1) {
      const [kind, email, password] = kinds[(round + n) % kinds.length] ?? ['', () => '', ''];
      const { status, ms: took } = await signIn(port, email(), password);
      if (status !== 401) throw new Error(`a ${kind} sign-in answered ${status}`);
      times.get(kind)?.push(took);
    }
    await database.run(forgetFailures);
  }
  const reference = quantile(times.get('known, wrong password') ?? [], 0.5);
  process.stdout.write(
    `| ${tries} failed sign-ins each | p50 ms | p90 ms | p50 less the first's | ratio |\n|---|---|---|---|---|\n`,
  );
  for (const [kind, values] of times) {
    const median = quantile(values, 0.5);
    process.stdout.write(
      `| ${kind} | ${ms(median)} | ${ms(quantile(values, 0.9))} | ${ms(median - reference)} | ${ms(median / reference)} |\n`,
    );
  }
}

/** Lists keys, one request after the other, until told to stop. */
async function listKeys(port: number, cookie: string, until: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!until()) {
    const { status, ms: took } = await timedRequest(port, 'GET', '/api/keys', { headers: { cookie } });
    if (status !== 200) throw new Error(`GET /keys answered ${status}`);
    times.push(took);
  }
  return times;
}

async function flood(port: number): Promise<void> {
  const emails = await Promise.all(Array.from({ length: 10 }, () => register(port)));
  const client = new ApiClient(port);
  await client.call(auth.login, { body: { email: emails[0], password: PASSWORD } });
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  const quietEnd = performance.now() + 3_000;
  const quiet = await listKeys(port, cookie, () => performance.now() > quietEnd);

  const startedAt = performance.now();
  let isOver = false;
  const worker = new Worker(join(import.meta.dirname, 'sign-in-flood.ts'), {
    workerData: { port, emails, password: PASSWORD, waves: WAVES, atOnce: AT_ONCE },
  });
  const flooding = once(worker, 'message').then(([counted]) => {
    isOver = true;
    return counted as Map<number, number>;
  });
  const busy = await listKeys(port, cookie, () => isOver);
  const statuses = await flooding;
  const seconds = (performance.now() - startedAt) / 1000;

  process.stdout.write(
    `\n| GET /keys | requests | p50 ms | p99 ms | longest ms |\n|---|---|---|---|---|\n| quiet | ${quiet.length} | ${ms(quantile(quiet, 0.5))} | ${ms(quantile(quiet, 0.99))} | ${ms(Math.max(...quiet))} |\n| while ${WAVES} waves of ${AT_ONCE} sign in (${seconds.toFixed(1)} s) | ${busy.length} | ${ms(quantile(busy, 0.5))} | ${ms(quantile(busy, 0.99))} | ${ms(Math.max(...busy))} |\n| ratio | | ${ms(quantile(busy, 0.5) / quantile(quiet, 0.5))} | ${ms(quantile(busy, 0.99) / quantile(quiet, 0.99))} | |\n`,
  );
  process.stdout.write(
    `sign-ins answered: ${[...statuses].map(([status, count]) => `${count} with ${status}`).join(', ')}\n`,
  );
}

const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
try {
  const dataDir = join(directory, 'data');
  await using service = await startService({ DATA_DIR: dataDir });
  await compareKinds(service.apiPort, dataDir);
  await flood(service.apiPort);
} finally {
  closeConnections();
  await rm(directory, { recursive: true, force: true });
}
