import { randomUUID } from 'node:crypto';
import { ownProcess, systemClock } from '@gatehouse/concurrency';
import { pino } from 'pino';
import { Backlog } from '../backlog.ts';
import { InstanceDirectory } from '../instance-directory.ts';
import { SegmentWriter } from '../segment-writer.ts';

export interface BareWriter extends Pick<SegmentWriter, 'append' | 'close'> {
  /** Marks what is sealed as settled in the ledger, so that only telemetry lacks it. */
  settled(): Promise<void>;
}

export interface BareWriterOptions {
  readonly maxSegmentRecords?: number;
  readonly maxSegmentBytes?: number;
}

/** A writer of segments in this directory without a journal around it, for benchmarks and drills. Nothing is shipped. */
export async function openBareWriter(root: string, options: BareWriterOptions = {}): Promise<BareWriter> {
  const instance = await InstanceDirectory.create({
    root,
    identity: ownProcess(),
    clock: systemClock,
    newId: () => randomUUID(),
    confirmAfterMs: 60_000,
  });
  const backlog = new Backlog();
  const writer = new SegmentWriter({
    instance,
    backlog,
    log: pino({ level: 'silent' }),
    maxSegmentRecords: 1_000_000,
    maxSegmentBytes: 1e9,
    onProgress() {},
    ...options,
  });
  return {
    append: (line) => writer.append(line),
    close: () => writer.close(),
    async settled() {
      for (const segment of [...backlog.pendingFor('ledger')])
        if (!segment.isOpen) await segment.acknowledge('ledger');
    },
  };
}
