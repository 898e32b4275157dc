import { Contradiction, LedgerDatabase, type Move } from './ledger-database.ts';
import { History, type Step } from './ledger-model.ts';

// A history: an organisation, its first key, and 16 steps drawn from the history's seed, each of which may be cut off by
// a crash: deposit, mint, a new limit, expiry, revocation, admission together with holds that are lowered, settlement, late or repeated or in doubt. Meanwhile
// overdue holds are released, weeks are closed and folded, also by those who crash at it. Then whatever was left
// half-way comes to its end. After every step all sums are compared with a plain model and with their rows.

export const STEPS = 16;
const WEEKS = 3;
// Finished histories stay in the database, and slow it down after a while.
const COHORTS_IN_A_WORLD = 4;

export interface Failure {
  readonly seed: number;
  readonly step: number;
  readonly message: string;
  readonly trace: readonly string[];
}

/** Runs histories with the seeds from `firstSeed` on; the first that contradicts the rules, or undefined. */
export async function simulate(
  ledger: LedgerDatabase,
  firstSeed: number,
  count: number,
): Promise<Failure | undefined> {
  const histories = Array.from({ length: count }, (_, index) => new History(firstSeed + index));
  let step = 0;
  try {
    await ledger.begin(histories, WEEKS);
    for (; step < STEPS; step += 1) {
      ledger.weeks.now = Math.min(WEEKS - 1, Math.floor((step * WEEKS) / STEPS));
      await takeSteps(ledger, histories);
      await ledger.check(histories);
      if (await happens(ledger, histories, step)) await ledger.check(histories);
    }
    await settleAll(ledger, histories);
    await ledger.close(WEEKS);
    await settleAll(ledger, histories);
    await ledger.fold();
    await settleAll(ledger, histories);
    await ledger.reap(histories);
    await ledger.check(histories);
    ledger.end(WEEKS);
    return undefined;
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    const { history, message } = error;
    return { seed: history.seed, step, message, trace: history.trace };
  }
}

/** The events that happen to all histories at once: at the same steps, so that one replayed alone meets the same. */
async function happens(
  ledger: LedgerDatabase,
  histories: readonly History[],
  step: number,
): Promise<boolean> {
  if (step % 5 === 4) await ledger.reap(histories);
  else if (step === 8) await ledger.close(1);
  // Closed is not folded yet: between the two, requests come.
  else if (step === 10 || step === 15) await ledger.fold();
  else if (step === 13) await ledger.close(2);
  else return false;
  return true;
}

async function takeSteps(ledger: LedgerDatabase, histories: readonly History[]): Promise<void> {
  const groups = Map.groupBy(
    histories.map((history) => {
      const step = history.next(ledger.weeks);
      history.trace.push(describe(step));
      return { history, step };
    }),
    ({ step }) => `${step.kind} ${step.crash?.after ?? 'whole'}`,
  );
  for (const moves of groups.values()) {
    const { kind, crash } = (moves[0] as Move).step;
    const take = ledger[kind] as (moves: readonly Move[], after: number | undefined) => Promise<void>;
    await take.call(ledger, moves, crash?.after);
  }
}

/** Everything that has begun comes to its end, whether it was settled before or not. */
async function settleAll(ledger: LedgerDatabase, histories: readonly History[]): Promise<void> {
  const moves = histories.flatMap((history): Move<'settle'>[] => {
    for (const request of history.requests) request.cost ??= request.amount;
    const requests = history.requests;
    return requests.length > 0 ? [{ history, step: { kind: 'settle', requests, crash: undefined } }] : [];
  });
  if (moves.length > 0) await ledger.settle(moves, undefined);
  await ledger.check(histories);
}

function describe(step: Step): string {
  const { kind, crash } = step;
  const key = 'key' in step ? ` key ${step.key.id.slice(-4)}` : '';
  const amount = 'amount' in step ? ` ${step.amount}` : '';
  const limit = 'limit' in step ? ` limit ${step.limit}` : '';
  const requests =
    step.kind === 'settle'
      ? ` ${step.requests.map((one) => `${one.id.slice(-4)} cost ${one.cost} week ${one.week}`).join(', ')}`
      : '';
  const admit =
    step.kind === 'admit'
      ? [
          ...step.finished.map((one) => ` ${one.id.slice(-4)} cost ${one.cost}`),
          ...step.wanted.map(
            (one) =>
              ` ${one.least} to ${one.most} key ${one.key.id.slice(-4)} week ${one.week}${one.isByok ? ' byok' : ''}`,
          ),
        ].join(',')
      : '';
  return `${kind}${key}${amount}${limit}${requests}${admit}${crash ? ` (crash after ${crash.after})` : ''}`;
}

export interface Progress {
  readonly done: number;
  readonly seconds: number;
}

/** Many histories, in cohorts, on several databases at once. The first failure ends it. */
export async function simulateMany({
  histories,
  firstSeed,
  workers = 2,
  cohort = 5_000,
  onProgress = () => {},
}: {
  readonly histories: number;
  readonly firstSeed: number;
  readonly workers?: number;
  readonly cohort?: number;
  readonly onProgress?: (progress: Progress) => void;
}): Promise<Failure | undefined> {
  const startedAt = performance.now();
  let next = 0;
  let done = 0;
  let failure: Failure | undefined;
  const worker = async () => {
    while (next < histories && !failure) {
      await using ledger = await LedgerDatabase.create();
      for (let cohorts = 0; cohorts < COHORTS_IN_A_WORLD && next < histories && !failure; cohorts += 1) {
        const from = next;
        const count = Math.min(cohort, histories - from);
        next += count;
        failure ??= await simulate(ledger, firstSeed + from, count);
        done += count;
        onProgress({ done, seconds: (performance.now() - startedAt) / 1000 });
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return failure;
}
