import type { Context } from './command.ts';

/** Progress of long work: one line at a terminal, rewritten. Without a terminal nothing is printed. */
export interface Progress extends Disposable {
  /** Begins a step. */
  step(words: string): void;
  /** The progress within the step. */
  at(done: number, of: number): void;
}

const CLEAR_LINE = '\r\u001b[K';
const MIN_MS_BETWEEN = 100;

/** `nowMs` is a monotonic clock. Disposing clears the line, so that an answer or an error begins on an empty one. */
export function createProgress(
  { isJson, isTerminal, err }: Pick<Context, 'isJson' | 'isTerminal' | 'err'>,
  nowMs: () => number = () => performance.now(),
): Progress {
  if (isJson || !isTerminal) {
    return { step: () => undefined, at: () => undefined, [Symbol.dispose]: () => undefined };
  }
  let words = '';
  let shownAtMs = Number.NEGATIVE_INFINITY;
  return {
    step(next) {
      words = next;
      shownAtMs = Number.NEGATIVE_INFINITY;
      err(`${CLEAR_LINE}${words} ...`);
    },
    at(done, of) {
      if (nowMs() - shownAtMs < MIN_MS_BETWEEN) return;
      shownAtMs = nowMs();
      err(`${CLEAR_LINE}${words} ... ${of > 0 ? Math.floor((Math.min(done, of) / of) * 100) : 100} %`);
    },
    [Symbol.dispose]() {
      err(CLEAR_LINE);
    },
  };
}
