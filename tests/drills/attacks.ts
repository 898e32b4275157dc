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
import type { Drill, DrillSettings } from './drill.ts';

// The latency of an ordinary organisation under each attack, beside its latency before, between and after the attacks,
// on one running service whose processes have a heap of 512 MB each. Then the most expensive bodies again, with twice the
// limit. The drill fails when a process of the service ends. Latencies are reported only, because they also depend on the machine.

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
  seconds: number,
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

/** Measures each attack on one service. Resolves with what ended meanwhile. */
async function run(
  environment: AttackEnvironment,
  attackers: Attackers,
  names: readonly AttackName[],
  { cycles: seconds, log }: DrillSettings,
): Promise<readonly string[]> {
  using victim = createVictim(environment);
  const { pid = 0 } = environment.service.child;
  const before = await runningParts(pid);
  await victim.feel(SETTLE_MS);
  const quiet = [await victim.feel(seconds * 1_000)];
  const all: Measured[] = [];
  let ended: string[] = [];
  for (const name of names) {
    log(`${name} ...`);
    all.push(await measure(environment, victim, attackers, name, seconds));
    const now = await runningParts(pid);
    ended = [...before].filter(([part, one]) => now.get(part)?.pid !== one.pid).map(([part]) => part);
    ended.push(...environment.service.logLines.filter(isOfAnEnd).map((line) => String(line['signal'])));
    if (ended.length > 0) break;
    await delay(SETTLE_MS);
    quiet.push(await victim.feel(QUIET_BETWEEN_MS));
  }
  if (ended.length === 0) quiet.push(await victim.feel(seconds * 1_000));
  const basis = together(quiet);
  const rows = all.map((one) => rowOf(one, basis));
  log([TABLE_HEAD, rowOf({ name: 'quiet', felt: basis }, basis), ...rows].join(''));
  for (const { name, besides } of all) log(`${name}: ${besides}`);
  return ended.map((one) => `a process of the service ended under ${all.at(-1)?.name}: ${one}`);
}

const isOfAnEnd = (line: Readonly<Record<string, unknown>>) => line['event'] === 'gateway.process_ended';

export const drill: Drill = async (settings) => {
  const load = loadavg().map((one) => one.toFixed(1));
  settings.log(`${availableParallelism()} cores, load ${load.join(' ')}, ${settings.cycles} s of each`);
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-attacks-'));
  try {
    await using attackers = await startAttackers({ isLowPriority: true });
    const evilBaseUrl = attackers.baseUrl;
    {
      await using environment = await openAttackEnvironment({
        directory: join(directory, 'first'),
        evilBaseUrl,
        accounts: SIGN_INS,
      });
      const ended = await run(environment, attackers, Object.keys(ATTACKS) as AttackName[], settings);
      if (ended.length > 0) return ended;
    }
    settings.log(`With GATEWAY_BODY_LIMIT_MB=${LARGE_LIMIT_MB}:`);
    const own = { directory: join(directory, 'second'), bodyLimitMb: LARGE_LIMIT_MB };
    await using environment = await openAttackEnvironment({ ...own, evilBaseUrl, accounts: 0 });
    return await run(environment, attackers, ['bodies of empty objects'], settings);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
