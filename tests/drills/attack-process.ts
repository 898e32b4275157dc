import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKS, type AttackName, type Target } from './attack-kinds.ts';
import { startAttackProvider } from './attack-provider.ts';

// The attackers and their provider, in a process of their own. The first argument is its priority.

export type Order =
  | { readonly attack: AttackName; readonly target: Target; readonly end?: AttackEnd }
  | 'stop';

/** An attack ends after this many answers that match, or when it is stopped. */
export interface AttackEnd {
  readonly answers: number;
  /** The source of a regular expression. */
  readonly matching: string;
}

export type Report =
  | { readonly baseUrl: string }
  /** How often each answer came, by its status; `closed` where the connection was. */
  | { readonly answers: Readonly<Record<string, number>> };

// Connections that stay open are abandoned.
const WIND_UP_MS = 3_000;

lowerPriority(process.argv[2] ?? '0');
let stop = new AbortController();

process.on('message', (order: Order) => {
  if (order === 'stop') stop.abort();
  else void carryOut(order);
});
process.on('disconnect', () => process.exit());
process.send?.({ baseUrl: await startAttackProvider() } satisfies Report);

async function carryOut({ attack, target, end }: Exclude<Order, 'stop'>): Promise<void> {
  const answers: Record<string, number> = {};
  let count = 0;
  const counted = new RegExp(end?.matching ?? '');
  const own = new AbortController();
  const { signal } = own;
  stop = own;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const work = ATTACKS[attack](target, signal, (answer) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
    if (counted.test(answer)) count += 1;
    if (end && count >= end.answers) own.abort();
  });
  await stopped;
  await Promise.race([work, delay(WIND_UP_MS)]);
  process.send?.({ answers } satisfies Report);
}

/** The priority of this process, and of its session where Linux has one for each (autogroups). */
function lowerPriority(priority: string): void {
  setPriority(Number(priority));
  try {
    writeFileSync('/proc/self/autogroup', priority);
  } catch {
    // There are none, or this system is not Linux.
  }
}
