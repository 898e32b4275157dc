import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AttackEnvironment, openAttackEnvironment, signIn } from './attack-environment.ts';
import { ATTACKS, type AttackName } from './attack-kinds.ts';
import { runningParts, watchPeaks } from './attack-memory.ts';
import { rowOf, TABLE_HEAD, together } from './attack-report.ts';
import { createVictim, type Felt, type Victim } from './attack-victim.ts';
import { type Attackers, startAttackers } from './attackers.ts';

// The latency of an ordinary organisation under each attack, beside its latency before, between and after the attacks,
// on one running service whose processes have a heap of 512 MB each. Then the most expensive bodies again, with twice the
// limit. The drill fails when a process of the service ends. Latencies are reported only, because they also depend on the machine.
//
//   node tests/drills/attacks.ts [seconds of each] [part of an attack's name]

const seconds = Number(process.argv[2] ?? 12);
const only = process.argv[3] ?? '';
/** Accounts that sign in, once each, during the flood of wrong passwords. */
const SIGN_INS = 69;
const SIGN_INS_AT_ONCE = 8;
/** A process is slower right after its start and right after an attack. */
const SETTLE_MS = 2_000;
/** A quiet measurement between two attacks, because the machine's own speed varies. */
const QUIET_BETWEEN_MS = 3_000;
const LARGE_LIMIT_MB = 32;

interface Measured {
  readonly name: string;
  readonly felt: Felt;
  readonly residentMb: ReadonlyMap<string, number>;
  readonly journalMb: number;
  readonly besides: string;
}

async function measure(
  environment: AttackEnvironment,
  victim: Victim,
  attackers: Attackers,
  name: AttackName,
): Promise<Measured> {
  const attack = attackers.start(name, environment.target);
  const feeling = victim.feel(seconds * 1_000);
  const signingIn = name === 'wrong passwords' ? signInAll(environment) : undefined;
  const work = Promise.all([feeling, signingIn]).finally(attack.stop);
  const peaks = await watchPeaks(environment.service.child.pid ?? 0, environment.journalDirectory, work);
  const [felt, right] = await work;
  const answers = Object.entries(await attack.answers).map(([answer, count]) => `${count} x ${answer}`);
  const besides = [
    `attackers got: ${answers.join(', ') || 'nothing'}`,
    ...(right === undefined ? [] : [`right passwords let in: ${right} of ${SIGN_INS}`]),
  ].join('; ');
  return { name, felt, residentMb: peaks.residentMb, journalMb: peaks.journalMb, besides };
}

async function signInAll(environment: AttackEnvironment): Promise<number> {
  let right = 0;
  const emails = environment.signedIn.values();
  const some = async () => {
    for (const email of emails) if ((await signIn(environment.service.apiPort, email)) === 200) right += 1;
  };
  await Promise.all(Array.from({ length: SIGN_INS_AT_ONCE }, some));
  return right;
}

/** Measures each attack on one service. False when one of its processes ended. */
async function run(
  environment: AttackEnvironment,
  attackers: Attackers,
  names: readonly AttackName[],
): Promise<boolean> {
  using victim = createVictim(environment);
  const { pid = 0 } = environment.service.child;
  const before = await runningParts(pid);
  await victim.feel(SETTLE_MS);
  const quiet = [await victim.feel(seconds * 1_000)];
  const all: Measured[] = [];
  let ended: string[] = [];
  for (const name of names) {
    process.stderr.write(`${name} ...\n`);
    all.push(await measure(environment, victim, attackers, name));
    const now = await runningParts(pid);
    ended = [...before].filter(([part, one]) => now.get(part)?.pid !== one.pid).map(([part]) => part);
    ended.push(...environment.service.logLines.filter(isOfAnEnd).map((line) => String(line['signal'])));
    if (ended.length > 0) break;
    await delay(SETTLE_MS);
    quiet.push(await victim.feel(QUIET_BETWEEN_MS));
  }
  if (ended.length === 0) quiet.push(await victim.feel(seconds * 1_000));
  const basis = together(quiet);
  process.stdout.write(`${TABLE_HEAD}${rowOf({ name: 'quiet', felt: basis }, basis)}`);
  for (const one of all) process.stdout.write(rowOf(one, basis));
  process.stdout.write(`\n${all.map(({ name, besides }) => `${name}: ${besides}\n`).join('')}\n`);
  if (ended.length > 0)
    process.stdout.write(`A PROCESS OF THE SERVICE ENDED under the last: ${ended.join(', ')}\n`);
  return ended.length === 0;
}

const isOfAnEnd = (line: Readonly<Record<string, unknown>>) => line['event'] === 'gateway.process_ended';

const load = loadavg().map((one) => one.toFixed(1));
process.stdout.write(`${availableParallelism()} cores, load ${load.join(' ')}, ${seconds} s of each\n\n`);
const directory = await mkdtemp(join(tmpdir(), 'gatehouse-attacks-'));
try {
  await using attackers = await startAttackers({ isLowPriority: true });
  const evilBaseUrl = attackers.baseUrl;
  const names = (Object.keys(ATTACKS) as AttackName[]).filter((name) => name.includes(only));
  let isAlive: boolean;
  {
    const accounts = names.includes('wrong passwords') ? SIGN_INS : 0;
    await using environment = await openAttackEnvironment({
      directory: join(directory, 'first'),
      evilBaseUrl,
      accounts,
    });
    isAlive = await run(environment, attackers, names);
  }
  const costliest: AttackName = 'bodies of empty objects';
  if (isAlive && names.includes(costliest)) {
    process.stdout.write(`With GATEWAY_BODY_LIMIT_MB=${LARGE_LIMIT_MB}:\n\n`);
    const own = { directory: join(directory, 'second'), bodyLimitMb: LARGE_LIMIT_MB };
    await using environment = await openAttackEnvironment({ ...own, evilBaseUrl, accounts: 0 });
    isAlive = await run(environment, attackers, [costliest]);
  }
  if (!isAlive) process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
