/**
 * Turns at something that does little at once, shared among organisations. An organisation has at most a few turns at
 * a time, and where several wait, the next turn goes to one that has the fewest: two hundred heavy questions of one
 * delay a question of another by no more than the one that is just being answered.
 */
export interface FairShare {
  /**
   * Waits for a turn of the organisation; disposing gives it back, once. Throws `LineFull` at once where too many of its
   * own wait already, and the signal's reason when it aborts first.
   */
  enter(organizationId: string, signal: AbortSignal): Promise<Disposable>;
  /** How many organisations have a turn or wait for one; no others are remembered. */
  organizations(): number;
}

export interface FairShareOptions {
  /** Turns at once, of all organisations together. */
  readonly atOnce: number;
  /** Turns at once of one organisation. */
  readonly each: number;
  /** How many of one organisation may wait. */
  readonly waiting: number;
}

/** Too many of the organisation wait already. */
export class LineFull extends Error {
  override readonly name = 'LineFull';
}

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

export function createFairShare({ atOnce, each, waiting }: FairShareOptions): FairShare {
  // In the order in which they last had a turn, longest ago first.
  const lines = new Map<string, Line>();
  let running = 0;

  function begin(organizationId: string, line: Line): void {
    running += 1;
    line.running += 1;
    moveBack(organizationId, line);
  }

  function end(organizationId: string, line: Line): void {
    running -= 1;
    line.running -= 1;
    // Behind whoever has been waiting since.
    moveBack(organizationId, line);
    forget(organizationId, line);
    admitNext();
  }

  function moveBack(organizationId: string, line: Line): void {
    lines.delete(organizationId);
    lines.set(organizationId, line);
  }

  function forget(organizationId: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) lines.delete(organizationId);
  }

  function admitNext(): void {
    if (running >= atOnce) return;
    let next: [string, Line] | undefined;
    for (const [organizationId, line] of lines) {
      if (line.waiting.size === 0 || line.running >= each) continue;
      if (!next || line.running < next[1].running) next = [organizationId, line];
    }
    if (!next) return;
    const [organizationId, line] = next;
    const admit = line.waiting.values().next().value;
    if (!admit) return;
    line.waiting.delete(admit);
    begin(organizationId, line);
    admit();
  }

  function wait(organizationId: string, line: Line, signal: AbortSignal): Promise<void> {
    if (line.waiting.size >= waiting) {
      forget(organizationId, line);
      throw new LineFull(`${waiting} of the organisation wait already`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const admit = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    function leave(): void {
      line.waiting.delete(admit);
      forget(organizationId, line);
      reject(signal.reason);
    }
    signal.addEventListener('abort', leave, { once: true });
    line.waiting.add(admit);
    return promise;
  }

  return {
    async enter(organizationId, signal) {
      signal.throwIfAborted();
      const line = lines.get(organizationId) ?? { running: 0, waiting: new Set() };
      lines.set(organizationId, line);
      if (running < atOnce && line.running < each) begin(organizationId, line);
      else await wait(organizationId, line, signal);
      let isOver = false;
      return {
        [Symbol.dispose]() {
          if (isOver) return;
          isOver = true;
          end(organizationId, line);
        },
      };
    },
    organizations: () => lines.size,
  };
}
