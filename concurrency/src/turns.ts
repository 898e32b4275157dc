/**
 * A queue of small pieces of work that is done one in each turn of the event loop, in the order in which they were added, so
 * that everything else gets in between. The returned function adds one; it may be called by a piece of work. One that
 * throws is reported as an uncaught exception, and the next ones have their turns all the same.
 */
export function createTurns(): (run: () => void) => void {
  const waiting: (() => void)[] = [];
  const takeTurn = (): void => {
    const run = waiting.shift();
    if (waiting.length > 0) setImmediate(takeTurn);
    run?.();
  };
  return (run) => {
    waiting.push(run);
    if (waiting.length === 1) setImmediate(takeTurn);
  };
}
