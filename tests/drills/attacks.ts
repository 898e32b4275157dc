import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKS, type Target } from './attack-kinds.ts';
import type { Order, Report } from './attack-process.ts';
import { type AttackWorld, memoryOf, openAttackWorld, PASSWORD } from './attack-world.ts';

// What an organisation that minds its own business feels of each attack, beside what it feels when nobody attacks, on
// one running service whose processes have a heap of 512 MB each. Every attack is bounded in time.
//
//   node tests/drills/attacks.ts [seconds of each] [part of an attack's name]

const seconds = Number(process.argv[2] ?? 12);
const only = process.argv[3] ?? '';
/** Accounts that sign in, once each, while wrong passwords come. */
const SIGN_INS = 69;
const EVERY_MS = 40;
const LATE_MS = 10_000;

interface Felt {
  readonly apiMs: number[];
  readonly gatewayMs: number[];
  readonly failed: Map<string, number>;
  readonly peakMb: Map<string, number>;
}

/** Asks at a steady pace, whether or not the last answer has come. */
async function feel(world: AttackWorld, forMs: number): Promise<Felt> {
  const felt: Felt = { apiMs: [], gatewayMs: [], failed: new Map(), peakMb: new Map() };
  const { apiPort, gatewayPort, child } = world.service;
  const ask = async (into: number[], url: string, init: RequestInit) => {
    const startedAt = performance.now();
    const status = await fetch(url, { ...init, signal: AbortSignal.timeout(LATE_MS) }).then(
      async (response) => {
        await response.arrayBuffer();
        return String(response.status);
      },
      () => 'none',
    );
    into.push(performance.now() - startedAt);
    if (status !== '200') felt.failed.set(status, (felt.failed.get(status) ?? 0) + 1);
  };
  const asked: Promise<void>[] = [];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    asked.push(
      ask(felt.apiMs, `http://127.0.0.1:${apiPort}/api/keys`, { headers: { cookie: world.victim.cookie } }),
      ask(felt.gatewayMs, `http://127.0.0.1:${gatewayPort}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.victim.secret}`, 'content-type': 'application/json' },
        body: '{"model":"good/model","max_tokens":16,"messages":[{"role":"user","content":"Hello"}]}',
      }),
    );
    for (const { command, rssMb } of (await memoryOf(child.pid ?? 0)).values()) {
      const name = partOf(command);
      if (name !== undefined) felt.peakMb.set(name, Math.max(felt.peakMb.get(name) ?? 0, rssMb));
    }
    await delay(EVERY_MS);
  }
  await Promise.all(asked);
  return felt;
}

/** Which of our Node processes a command line is. */
function partOf(command: string): string | undefined {
  if (!/node/.test(command) || /engine-main|postgres/.test(command)) return undefined;
  return /gateway/.test(command.slice(command.indexOf('gatehouse.mjs'))) ? 'gateway' : 'api';
}

async function signIns(world: AttackWorld): Promise<number> {
  let right = 0;
  for (const email of world.signedIn) {
    const { status } = await fetch(`http://127.0.0.1:${world.service.apiPort}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    if (status === 200) right += 1;
  }
  return right;
}

async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

function told(name: string, felt: Felt, quiet: Felt, besides: string): string {
  const figures = (now: number[], before: number[]) =>
    `p50 ${at(now, 0.5).toFixed(1)} p99 ${at(now, 0.99).toFixed(1)} ms (${(at(now, 0.99) / at(before, 0.99)).toFixed(1)} x)`;
  const failed = [...felt.failed].map(([status, count]) => `${count} x ${status}`).join(', ') || 'none';
  const peaks = [...felt.peakMb].map(([part, mb]) => `${part} ${mb.toFixed(0)}`).join(', ');
  return [
    `${name}`,
    `  API      ${figures(felt.apiMs, quiet.apiMs)}`,
    `  gateway  ${figures(felt.gatewayMs, quiet.gatewayMs)}`,
    `  of ${felt.apiMs.length + felt.gatewayMs.length} requests failed: ${failed}; peak MiB: ${peaks}${besides}`,
    '',
  ].join('\n');
}

const directory = await mkdtemp(join(tmpdir(), 'gatehouse-attacks-'));
const attackers = fork(join(import.meta.dirname, 'attack-process.ts'));
try {
  const [{ baseUrl }] = (await once(attackers, 'message')) as [{ baseUrl: string }];
  await using world = await openAttackWorld({ directory, evilBaseUrl: baseUrl, accounts: SIGN_INS });
  const { apiPort, gatewayPort, child } = world.service;
  const pids = [...(await memoryOf(child.pid ?? 0))]
    .filter(([, { command }]) => partOf(command))
    .map(([pid]) => pid);
  const target: Target = {
    apiPort,
    gatewayPort,
    secrets: world.attackers.map(({ secret }) => secret),
    slowSecret: world.slowSecret,
    cookie: world.attackers[0]?.cookie ?? '',
  };
  // The first seconds are those of a process that has just begun.
  await feel(world, 3_000);
  const quiet = await feel(world, seconds * 1_000);
  process.stdout.write(told('quiet', quiet, quiet, ''));
  for (const attack of Object.keys(ATTACKS).filter((name) => name.includes(only))) {
    const journalBefore = await bytesIn(world.journalDirectory);
    attackers.send({ attack, target, seconds } satisfies Order);
    const isAboutPasswords = attack === 'wrong passwords';
    const reported = once(attackers, 'message') as Promise<[Report & { answers: [string, number][] }]>;
    const [felt, right] = await Promise.all([
      feel(world, seconds * 1_000),
      isAboutPasswords ? delay(1_000).then(() => signIns(world)) : undefined,
    ]);
    const [{ answers }] = await reported;
    const journalMb = ((await bytesIn(world.journalDirectory)) - journalBefore) / 1024 / 1024;
    const besides = [
      right === undefined ? '' : `; right passwords let in: ${right} of ${SIGN_INS}`,
      journalMb > 1 ? `; journal +${journalMb.toFixed(0)} MiB` : '',
      `\n  the attackers were answered: ${answers.map(([status, count]) => `${count} x ${status}`).join(', ') || 'nothing'}`,
    ].join('');
    process.stdout.write(told(attack, felt, quiet, besides));
    const gone = pids.filter((pid) => !isThere(pid));
    if (gone.length > 0 || child.exitCode !== null || child.signalCode !== null) {
      process.stdout.write(`  A PROCESS OF THE SERVICE ENDED (${gone.join(', ')})\n`);
      process.exitCode = 1;
      break;
    }
    await delay(2_000);
  }
} finally {
  attackers.disconnect();
  await rm(directory, { recursive: true, force: true });
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
