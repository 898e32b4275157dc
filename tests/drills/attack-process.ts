import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKS, type AttackName, type Target } from './attack-kinds.ts';
import { startAttackProvider } from './attack-provider.ts';

// The attackers and their provider, in a process of their own with the lowest priority. On a machine with few cores the drill
// measures the service, not the processor time that the attackers take from it.

/** An attack ends after this many answers, or when it is stopped. */
export type Order =
  | { readonly attack: AttackName; readonly target: Target; readonly answers: number }
  | 'stop';

export type Report =
  | { readonly baseUrl: string }
  /** How often each answer came, by its status; `closed` where the connection was. */
  | { readonly answers: Readonly<Record<string, number>> };

// Connections that stay open are abandoned.
const WIND_UP_MS = 3_000;

setPriority(19);
let stop = new AbortController();

process.on('message', (order: Order) => {
  if (order === 'stop') stop.abort();
  else void carryOut(order);
});
process.on('disconnect', () => process.exit());
process.send?.({ baseUrl: await startAttackProvider() } satisfies Report);

async function carryOut({ attack, target, answers: most }: Exclude<Order, 'stop'>): Promise<void> {
  const answers: Record<string, number> = {};
  let count = 0;
  const own = new AbortController();
  const { signal } = own;
  stop = own;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const work = ATTACKS[attack](target, signal, (answer) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
    count += 1;
    if (count >= most) own.abort();
  });
  await stopped;
  await Promise.race([work, delay(WIND_UP_MS)]);
  process.send?.({ answers } satisfies Report);
}
