import type { Segment, Sink } from './segment.ts';

/** The records that a sink does not have yet; `oldestMs` is the age of the oldest of it, at most. */
export interface Pending {
  readonly records: number;
  readonly bytes: number;
  readonly segments: number;
  readonly oldestMs: number;
}

/** The segments of this instance that a sink still needs, the open one included, oldest first. */
export class Backlog {
  readonly #segments = new Set<Segment>();

  add(segment: Segment): void {
    this.#segments.add(segment);
    void segment.done.then(() => this.#segments.delete(segment));
  }

  get size(): number {
    return this.#segments.size;
  }

  all(): Segment[] {
    return [...this.#segments];
  }

  *pendingFor(sink: Sink): Generator<Segment> {
    for (const segment of this.#segments) if (segment.pendingSinks.has(sink)) yield segment;
  }

  /** Acknowledged records that a sink does not have yet. */
  pendingRecords(sink: Sink): number {
    let records = 0;
    for (const segment of this.pendingFor(sink)) {
      records += segment.records - (sink === 'ledger' ? segment.ledgerRecords : 0);
    }
    return records;
  }

  /** The records that a sink does not have yet. */
  pendingAt(sink: Sink, nowMs: number): Pending {
    let bytes = 0;
    let segments = 0;
    let sinceMs = nowMs;
    for (const segment of this.pendingFor(sink)) {
      const missing = segment.length - (sink === 'ledger' ? segment.ledgerOffset : 0);
      segments += 1;
      bytes += missing;
      if (missing > 0)
        sinceMs = Math.min(sinceMs, sink === 'ledger' ? segment.ledgerSinceMs : segment.sinceMs);
    }
    return { records: this.pendingRecords(sink), bytes, segments, oldestMs: nowMs - sinceMs };
  }

  get bytes(): number {
    let bytes = 0;
    for (const segment of this.#segments) bytes += segment.length;
    return bytes;
  }
}
