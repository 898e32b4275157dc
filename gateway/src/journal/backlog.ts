import type { Creditor, Segment } from './segment.ts';

/** The segments of this instance that someone still waits for, the open one included, oldest first. */
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

  *owing(creditor: Creditor): Generator<Segment> {
    for (const segment of this.#segments) if (segment.owes.has(creditor)) yield segment;
  }

  /** Acknowledged records that a creditor does not have yet. */
  recordsOwed(creditor: Creditor): number {
    let records = 0;
    for (const segment of this.owing(creditor)) {
      records += segment.records - (creditor === 'ledger' ? segment.ledgerRecords : 0);
    }
    return records;
  }

  get bytes(): number {
    let bytes = 0;
    for (const segment of this.#segments) bytes += segment.length;
    return bytes;
  }
}
