import type { Context } from './command.ts';

/** What a person at a terminal sees of work that takes a while: one line, rewritten. Nobody else sees any of it. */
export interface Progress extends Disposable {
  /** Begins a step and ends the one before. */
  step(words: string): void;
  /** How far the step is. */
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
