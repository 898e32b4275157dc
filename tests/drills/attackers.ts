import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AttackName, Target } from './attack-kinds.ts';
import type { Order, Report } from './attack-process.ts';

/** The process of the attackers, controlled by the measuring process. */
export interface Attackers extends AsyncDisposable {
  /** The base URL of their provider. */
  readonly baseUrl: string;
  /** Starts an attack; one at a time. */
  start(attack: AttackName, target: Target, mostAnswers?: number): Attack;
}

export interface Attack {
  /** The count of each answer, once the attack is over. */
  readonly answers: Promise<Readonly<Record<string, number>>>;
  stop(): void;
}

export async function startAttackers(): Promise<Attackers> {
  const child = fork(join(import.meta.dirname, 'attack-process.ts'), { execArgv: [] });
  const ended = once(child, 'exit');
  const endedEarly = ended.then(([code, signal]) => {
    throw new Error(`the attackers ended with ${signal ?? code}`);
  });
  // The rejection is unhandled between two attacks.
  endedEarly.catch(() => undefined);
  const report = async () => (await Promise.race([once(child, 'message'), endedEarly]))[0] as Report;
  const first = await report();
  return {
    baseUrl: 'baseUrl' in first ? first.baseUrl : '',
    start(attack, target, mostAnswers = Number.MAX_SAFE_INTEGER) {
      const answers = report().then((last) => ('answers' in last ? last.answers : {}));
      child.send({ attack, target, answers: mostAnswers } satisfies Order);
      return { answers, stop: () => void child.send('stop' satisfies Order) };
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
