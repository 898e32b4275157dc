import { randomUUID } from 'node:crypto';
import { finishesWithin, systemClock } from '@gatehouse/concurrency';
import { Backlog } from './backlog.ts';
import { DiskRoom } from './disk-room.ts';
import { HoldReaper } from './hold-reaper.ts';
import { InstanceDirectory, systemProcesses } from './instance-directory.ts';
import type { JournalOptions, OpenJournal, SinkStats } from './journal.ts';
import { LedgerShipper } from './ledger-shipper.ts';
import { Loop, pause, waitForWake } from './loop.ts';
import { Outage } from './outage.ts';
import { encodeLine } from './record-line.ts';
import { isRowRejection } from './row-rejections.ts';
import type { Sink } from './segment.ts';
import { SegmentRecovery } from './segment-recovery.ts';
import { SegmentWriter } from './segment-writer.ts';
import { TelemetryShipper } from './telemetry-shipper.ts';

const defaults = {
  isRowRejection,
  ledgerIntervalMs: 200,
  // A record that comes alone is shipped at once. Of steady traffic each process makes one insert a second, and so one segment: parts of
  // ClickHouse, their merges and positions of the ledger follow the number of segments, not of requests.
  telemetryIntervalMs: 1_000,
  telemetryTimeoutMs: 60_000,
  firstRetryMs: 200,
  lastRetryMs: 10_000,
  rejectedRetryMs: 60_000,
  reapIntervalMs: 30_000,
  recoveryIntervalMs: 10_000,
  heartbeatMs: 10_000,
  leaseMs: 60_000,
  flushTimeoutMs: 10_000,
  minFreeBytes: 0,
  diskIntervalMs: 1_000,
  maxSegmentRecords: 10_000,
  maxSegmentBytes: 8 * 1024 * 1024,
  clock: systemClock,
  random: Math.random,
  processes: systemProcesses,
  newId: (): string => randomUUID(),
};

// How long closing waits for a step that a store does not answer, after the time of the flush.
const STOP_TIMEOUT_MS = 2_000;

/** Opens the journal: makes this process's directory, recovers segments of dead processes, and starts shipping. */
export async function openJournal(options: JournalOptions): Promise<OpenJournal> {
  const settings = { ...defaults, ...options };
  const { directory: root, database, log, clock, leaseMs } = settings;
  const newOutage = (name: string) => new Outage({ ...settings, name });
  const outages = {
    ledger: newOutage('ledger'),
    telemetry: newOutage('telemetry'),
    reaper: newOutage('hold_reaper'),
    heartbeat: newOutage('heartbeat'),
    recovery: newOutage('segment_recovery'),
    disk: newOutage('disk_check'),
  };

  const identity = settings.processes.own();
  const instance = await InstanceDirectory.create({
    ...settings,
    root,
    identity,
    confirmAfterMs: leaseMs / 2,
  });
  const backlog = new Backlog();
  const recovery = new SegmentRecovery({ ...settings, root, instance, backlog });
  await recovery.recover().catch((error: unknown) => outages.recovery.failed(error));

  const disk = new DiskRoom(settings);
  await disk.check().catch((error: unknown) => outages.disk.failed(error));

  const wake = () => {
    loops.ledger.wake();
    loops.telemetry.wake();
  };
  const writer = new SegmentWriter({ ...settings, instance, backlog, onProgress: wake });
  const ledger = new LedgerShipper({
    ...settings,
    root,
    backlog,
    outage: outages.ledger,
    intervalMs: settings.ledgerIntervalMs,
  });
  const telemetry = new TelemetryShipper({
    ...settings,
    root,
    backlog,
    seal: () => writer.seal(),
    findInTelemetry: settings.findInTelemetry,
    outage: outages.telemetry,
    intervalMs: settings.telemetryIntervalMs,
    attemptTimeoutMs: settings.telemetryTimeoutMs,
  });
  const reaper = new HoldReaper({
    database,
    log,
    isLedgerBehind: () => ledger.isBehind,
    intervalMs: settings.reapIntervalMs,
  });

  const newLoop = (outage: Outage, step: () => ReturnType<typeof ledger.step>, firstPauseMs = 0) =>
    new Loop({ clock, step, firstPauseMs, onError: (error) => outage.failed(error) });
  const loops = {
    ledger: newLoop(outages.ledger, () => ledger.step()),
    telemetry: newLoop(outages.telemetry, () => telemetry.step()),
    reaper: newLoop(outages.reaper, async () => {
      const next = await reaper.step();
      outages.reaper.succeeded();
      return next;
    }),
    recovery: newLoop(
      outages.recovery,
      async () => {
        await recovery.recover();
        outages.recovery.succeeded();
        wake();
        return pause(settings.recoveryIntervalMs);
      },
      settings.recoveryIntervalMs,
    ),
    heartbeat: newLoop(
      outages.heartbeat,
      async () => {
        await writer.confirm();
        outages.heartbeat.succeeded();
        return pause(settings.heartbeatMs);
      },
      settings.heartbeatMs,
    ),
    disk: newLoop(
      outages.disk,
      async () => {
        await disk.check();
        outages.disk.succeeded();
        return settings.minFreeBytes === 0 ? waitForWake() : pause(settings.diskIntervalMs);
      },
      settings.diskIntervalMs,
    ),
  };

  let appended = 0;
  let appendFailures = 0;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  const sinkStats = (sink: Sink): SinkStats => ({
    ...backlog.pendingAt(sink, Date.now()),
    isFailing: outages[sink].isOngoing,
    failures: outages[sink].failures,
  });

  const flush = async () => {
    await writer.drain();
    loops.ledger.wakeNow();
    loops.telemetry.wakeNow();
    const shipped = Promise.all(backlog.all().map((segment) => segment.done));
    if (await finishesWithin(shipped, settings.flushTimeoutMs, clock)) return;
    throw new Error(`not everything was shipped within ${settings.flushTimeoutMs} ms`);
  };

  const close = async () => {
    isClosed = true;
    await flush().catch((error: unknown) => {
      log.warn(
        {
          event: 'journal.closed_with_backlog',
          err: error,
          ledger: backlog.pendingRecords('ledger'),
          telemetry: backlog.pendingRecords('telemetry'),
        },
        'journal closed with unshipped records; the next start ships them',
      );
    });
    const stopped = Promise.all(Object.values(loops).map((loop) => loop.stop()));
    await finishesWithin(stopped, STOP_TIMEOUT_MS, clock);
    await writer.close();
    await instance.release();
  };

  return {
    async append(request) {
      try {
        if (isClosed) throw new Error('the journal is closed');
        await writer.append(encodeLine(request));
        appended += 1;
      } catch (error) {
        appendFailures += 1;
        throw error;
      }
    },
    get hasRoom() {
      return disk.isEnough;
    },
    flush,
    stats: () => ({
      appended,
      appendFailures,
      ledgerBacklog: backlog.pendingRecords('ledger'),
      telemetryBacklog: backlog.pendingRecords('telemetry'),
      segments: backlog.size,
      bytes: backlog.bytes,
      isLedgerFailing: outages.ledger.isOngoing,
      isTelemetryFailing: outages.telemetry.isOngoing,
      sinks: { ledger: sinkStats('ledger'), telemetry: sinkStats('telemetry') },
      deadLetters: telemetry.deadLetters,
      unreadable: recovery.unreadable,
      holdsReleased: reaper.released,
    }),
    [Symbol.asyncDispose]() {
      closing ??= close();
      return closing;
    },
  };
}
