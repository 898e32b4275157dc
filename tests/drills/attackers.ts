import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { AttackName, Target } from './attack-kinds.ts';
import type { AttackEnd, Order, Report } from './attack-process.ts';

/** The process of the attackers, controlled by the measuring process. */
export interface Attackers extends AsyncDisposable {
  /** The base URL of their provider. */
  readonly baseUrl: string;
  /** Starts an attack; one at a time. It goes on until it is stopped, unless its end is given. */
  start(attack: AttackName, target: Target, end?: AttackEnd): Attack;
}

export interface Attack {
  /** The count of each answer, once the attack is over. */
  readonly answers: Promise<Readonly<Record<string, number>>>;
  stop(): void;
}

export interface AttackersOptions {
  /**
   * True if the attackers have the lowest priority: on a machine with few cores a drill then measures the service, not the processor time
   * that they take from it. Beside other programs they get almost none, so that their own requests and their provider's answers come too
   * late.
   */
  readonly isLowPriority: boolean;
}

export async function startAttackers({ isLowPriority }: AttackersOptions): Promise<Attackers> {
  const priority = isLowPriority ? constants.priority.PRIORITY_LOW : constants.priority.PRIORITY_NORMAL;
  const child = fork(join(import.meta.dirname, 'attack-process.ts'), [String(priority)], {
    execArgv: [],
    // A session of its own: Linux may share processors between sessions first, and a priority then counts within one only.
    detached: true,
  });
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
    start(attack, target, end) {
      const answers = report().then((last) => ('answers' in last ? last.answers : {}));
      child.send({ attack, target, ...(end && { end }) } satisfies Order);
      return { answers, stop: () => void child.send('stop' satisfies Order) };
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
