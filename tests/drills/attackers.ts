import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AttackName, Target } from './attack-kinds.ts';
import type { Order, Report } from './attack-process.ts';

/** The process of the attackers, seen from the one that measures. */
export interface Attackers extends AsyncDisposable {
  /** Where their provider listens. */
  readonly baseUrl: string;
  /** One at a time. */
  start(attack: AttackName, target: Target, mostAnswers?: number): Attack;
}

export interface Attack {
  /** How often each answer came, once the attack is over. */
  readonly answers: Promise<Readonly<Record<string, number>>>;
  stop(): void;
}

export async function startAttackers(): Promise<Attackers> {
  const child = fork(join(import.meta.dirname, 'attack-process.ts'), { execArgv: [] });
  const ended = once(child, 'exit');
  const endedEarly = ended.then(([code, signal]) => {
    throw new Error(`the attackers ended with ${signal ?? code}`);
  });
  // Nobody listens between two attacks.
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
