import { randomUUID } from 'node:crypto';
import { ownProcess, systemClock } from '@gatehouse/concurrency';
import { pino } from 'pino';
import { Backlog } from '../backlog.ts';
import { InstanceDirectory } from '../instance-directory.ts';
import { SegmentWriter } from '../segment-writer.ts';

/** A writer of segments in this directory without a journal around it, for benchmarks. Nothing is shipped. */
export async function openBareWriter(root: string): Promise<Pick<SegmentWriter, 'append' | 'close'>> {
  const instance = await InstanceDirectory.create({
    root,
    identity: ownProcess(),
    clock: systemClock,
    newId: () => randomUUID(),
    confirmAfterMs: 60_000,
  });
  return new SegmentWriter({
    instance,
    backlog: new Backlog(),
    log: pino({ level: 'silent' }),
    maxSegmentRecords: 1_000_000,
    maxSegmentBytes: 1e9,
    onProgress() {},
  });
}
