/**
 * Who may use the engine now. Every running query holds a thread of libuv's pool, and each already uses all the
 * processor cores, so few run at once and the rest wait in two lines, reads and writes. When a place falls free the
 * lines take turns: a burst of reads cannot hold up the request log, nor a burst of inserts the dashboard.
 */
import { exceptions } from './exceptions.ts';

export type Line = 'read' | 'write';

type Waiting = { readonly admit: () => void };

export type Slots = {
  /**
   * Waits for a place and returns the function that gives it back. Throws at once when the lines are full, and when
   * `signal` aborts before the place is reached.
   */
  enter(line: Line, signal: AbortSignal): Promise<() => void>;
  /** How many calls run and wait. */
  count(): number;
};

export function createSlots(options: { readonly running: number; readonly waiting: number }): Slots {
  const lines: Record<Line, Set<Waiting>> = { read: new Set(), write: new Set() };
  let running = 0;
  let turn: Line = 'write';

  function place(): () => void {
    running++;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      running--;
      admitNext();
    };
  }

  function admitNext(): void {
    const first = lines[turn].size > 0 ? turn : other(turn);
    const next = lines[first].values().next().value;
    if (next === undefined || running >= options.running) return;
    lines[first].delete(next);
    turn = other(first);
    next.admit();
  }

  return {
    async enter(line, signal) {
      if (signal.aborted) throw exceptions.cancelled();
      if (running < options.running) return place();
      if (lines.read.size + lines.write.size >= options.waiting) {
        throw exceptions.tooBusy(`Too many queries: ${running} running and ${options.waiting} waiting.`);
      }
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const waiting: Waiting = {
        admit: () => {
          signal.removeEventListener('abort', leave);
          resolve(place());
        },
      };
      function leave(): void {
        lines[line].delete(waiting);
        reject(exceptions.cancelled());
      }
      signal.addEventListener('abort', leave, { once: true });
      lines[line].add(waiting);
      return promise;
    },
    count: () => running + lines.read.size + lines.write.size,
  };
}

function other(line: Line): Line {
  return line === 'read' ? 'write' : 'read';
}
