import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AttackEnvironment, openAttackEnvironment, signIn } from './attack-environment.ts';
import { ATTACK_NAMES, type AttackName } from './attack-kinds.ts';
import { runningParts, watchPeaks } from './attack-memory.ts';
import { type ProcessorTime, processorsBetween, processorTimes } from './attack-processor.ts';
import { quietRowOf, type Row, rowOf, TABLE_HEAD, together } from './attack-report.ts';
import { createVictim, type Felt, type Victim } from './attack-victim.ts';
import { type Attackers, startAttackers } from './attackers.ts';
import type { Drill, DrillSettings } from './drill.ts';

// The latency of an ordinary organisation under each attack, beside its latency right before and right after it, on one
// running service whose processes have a heap of 512 MB each. All attacks run in turn, and that several times, because the
// speed of a machine varies. Then the most expensive bodies again, with twice the limit. The drill fails when a process of the service ends.
// Latencies are reported only, because they also depend on the machine.

const ROUNDS = 3;
/** Accounts that sign in, once each, during the flood of wrong passwords. */
const SIGN_INS = 69;
const SIGN_INS_AT_ONCE = 8;
/** A process is slower right after its start and right after an attack. */
const SETTLE_MS = 2_000;
/** An attack ends with its last request: an answer whose caller left is read on for a minute at most. */
const SETTLE_TIMEOUT_MS = 90_000;
/** Code that has not run before is compiled first, once in the life of a process: so each attack has run for a moment before any is measured. */
const WARM_UP_MS = 2_000;
/** Before and after each attack: half of its duration. */
const QUIET_SHARE = 0.5;
const LARGE_LIMIT_MB = 32;

/** The measurements of an attack in all rounds so far. */
interface Measured extends Row {
  readonly rounds: { readonly felt: Felt; readonly quiet: Felt }[];
  readonly processors: Map<string, ProcessorTime>;
  readonly residentMb: Map<string, number>;
  journalMb: number;
  readonly answers: Map<string, number>;
  signedIn: number;
}

const nothingMeasured = (name: AttackName): Measured => ({
  name,
  rounds: [],
  processors: new Map(),
  residentMb: new Map(),
  journalMb: 0,
  answers: new Map(),
  signedIn: 0,
});

/** One round of an attack; resolves with the neighbour's latencies. */
async function measure(
  environment: AttackEnvironment,
  victim: Victim,
  attackers: Attackers,
  name: AttackName,
  seconds: number,
  into: Measured,
): Promise<Felt> {
  const { pid = 0 } = environment.service.child;
  const before = await processorTimes(pid);
  const beganAt = performance.now();
  const attack = attackers.start(name, environment.target);
  const feeling = victim.feel(seconds * 1_000);
  const signingIn = name === 'wrong passwords' ? signInAll(environment) : 0;
  const work = Promise.all([feeling, signingIn]).finally(attack.stop);
  const peaks = await watchPeaks(pid, environment.journalDirectory, work);
  const [felt, signedIn] = await work;
  const tookSeconds = (performance.now() - beganAt) / 1_000;
  for (const [part, { usual, lowered }] of processorsBetween(
    before,
    await processorTimes(pid),
    tookSeconds,
  )) {
    const sum = into.processors.get(part) ?? { usual: 0, lowered: 0 };
    into.processors.set(part, { usual: sum.usual + usual / ROUNDS, lowered: sum.lowered + lowered / ROUNDS });
  }
  for (const [part, mb] of peaks.residentMb)
    into.residentMb.set(part, Math.max(mb, into.residentMb.get(part) ?? 0));
  into.journalMb = Math.max(into.journalMb, peaks.journalMb);
  into.signedIn += signedIn;
  for (const [answer, count] of Object.entries(await attack.answers))
    into.answers.set(answer, (into.answers.get(answer) ?? 0) + count);
  return felt;
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

/** Measures the attacks on one service. Resolves with what ended meanwhile. */
async function run(
  environment: AttackEnvironment,
  attackers: Attackers,
  names: readonly AttackName[],
  { cycles: seconds, log }: DrillSettings,
): Promise<readonly string[]> {
  using victim = createVictim(environment);
  const { pid = 0 } = environment.service.child;
  const parts = await runningParts(pid);
  const beQuiet = async () => {
    const until = performance.now() + SETTLE_TIMEOUT_MS;
    while ((await environment.requestsInFlight()) > 0) {
      if (performance.now() > until) throw new Error('requests of an attack do not end');
      await delay(SETTLE_MS / 4);
    }
    await environment.refreshSessions();
    await delay(SETTLE_MS);
    const work = victim.feel(seconds * QUIET_SHARE * 1_000);
    // The measuring process reads as much of the system as during an attack.
    await watchPeaks(pid, environment.journalDirectory, work);
    return work;
  };
  await victim.feel(SETTLE_MS);
  for (const name of names) {
    const attack = attackers.start(name, environment.target);
    await victim.feel(WARM_UP_MS);
    attack.stop();
    await attack.answers;
  }
  const quiet = [await beQuiet()];
  const all = names.map(nothingMeasured);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const measured of all) {
      const name = measured.name as AttackName;
      log(`round ${round} of ${ROUNDS}: ${name} ...`);
      const before = quiet.at(-1);
      const felt = await measure(environment, victim, attackers, name, seconds, measured);
      const ended = await endedOf(environment, parts);
      if (ended.length > 0) return ended.map((one) => `a process of the service ended under ${name}: ${one}`);
      const after = await beQuiet();
      quiet.push(after);
      measured.rounds.push({ felt, quiet: together(before ? [before, after] : [after]) });
    }
  }
  const allQuiet = together(quiet);
  log([TABLE_HEAD, quietRowOf(allQuiet), ...all.map((row) => rowOf(row, allQuiet))].join(''));
  for (const { name, answers, signedIn } of all) {
    const got = [...answers].map(([answer, count]) => `${count} x ${answer}`).join(', ') || 'nothing';
    const right = signedIn > 0 ? `; right passwords that succeeded: ${signedIn} of ${ROUNDS * SIGN_INS}` : '';
    log(`${name}: answers to the attackers: ${got}${right}`);
  }
  return [];
}

/** True if Linux shares processors between sessions first, as for programs of a terminal and not for services and containers. */
async function sharesBySession(): Promise<boolean> {
  const setting = await readFile('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').catch(() => '0');
  return setting.trim() !== '0';
}

async function endedOf(
  { service }: AttackEnvironment,
  parts: Awaited<ReturnType<typeof runningParts>>,
): Promise<string[]> {
  const now = await runningParts(service.child.pid ?? 0);
  const replaced = [...parts].filter(([part, one]) => now.get(part)?.pid !== one.pid).map(([part]) => part);
  const lines = service.logLines.filter((line) => line['event'] === 'gateway.process_ended');
  return [...replaced, ...lines.map((line) => String(line['signal']))];
}

export const drill: Drill = async (settings) => {
  const load = loadavg().map((one) => one.toFixed(1));
  settings.log(
    `${availableParallelism()} cores, load ${load.join(' ')}, ${ROUNDS} rounds, ${settings.cycles} s of each attack`,
  );
  if (await sharesBySession())
    settings.log(
      'processors are shared between sessions first, so priorities count within a session only (autogroups)',
    );
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-attacks-'));
  const chosen =
    settings.only === undefined ? ATTACK_NAMES : ATTACK_NAMES.filter((name) => name === settings.only);
  try {
    await using attackers = await startAttackers({ isLowPriority: true });
    const evilBaseUrl = attackers.baseUrl;
    {
      await using environment = await openAttackEnvironment({
        directory: join(directory, 'first'),
        evilBaseUrl,
        accounts: chosen.includes('wrong passwords') ? SIGN_INS : 0,
      });
      const ended = await run(environment, attackers, chosen, settings);
      if (ended.length > 0) return ended;
    }
    if (!chosen.includes('bodies of empty objects')) return [];
    settings.log(`With GATEWAY_BODY_LIMIT_MB=${LARGE_LIMIT_MB}:`);
    const own = { directory: join(directory, 'second'), bodyLimitMb: LARGE_LIMIT_MB };
    await using environment = await openAttackEnvironment({ ...own, evilBaseUrl, accounts: 0 });
    return await run(environment, attackers, ['bodies of empty objects'], settings);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
