import { randomUUID } from 'node:crypto';
import { Backlog } from './backlog.ts';
import { DiskRoom } from './disk-room.ts';
import { HoldReaper } from './hold-reaper.ts';
import { InstanceDirectory } from './instance-directory.ts';
import type { JournalOptions, OpenJournal } from './journal.ts';
import { LedgerShipper } from './ledger-shipper.ts';
import { Loop, pause, waitForNews } from './loop.ts';
import { OrphanAdopter } from './orphan-adopter.ts';
import { Outage } from './outage.ts';
import { systemProcesses } from './process-mark.ts';
import { encodeLine } from './record-line.ts';
import { isTelemetryRefusal } from './refusal-codes.ts';
import { SegmentWriter } from './segment-writer.ts';
import { TelemetryShipper } from './telemetry-shipper.ts';
import { systemTiming, type Timing } from './timing.ts';

const defaults = {
  isTelemetryRefusal,
  ledgerIntervalMs: 200,
  telemetryIntervalMs: 200,
  telemetryTimeoutMs: 60_000,
  firstRetryMs: 200,
  lastRetryMs: 10_000,
  refusedRetryMs: 60_000,
  reapIntervalMs: 30_000,
  adoptIntervalMs: 10_000,
  heartbeatMs: 10_000,
  leaseMs: 60_000,
  flushTimeoutMs: 10_000,
  minFreeBytes: 0,
  diskIntervalMs: 1_000,
  maxSegmentRecords: 10_000,
  maxSegmentBytes: 8 * 1024 * 1024,
  timing: systemTiming,
  processes: systemProcesses,
  newId: (): string => randomUUID(),
};

// How long closing waits for a step that a store keeps hanging, after the flush has had its time.
const STOP_TIMEOUT_MS = 2_000;

/** Opens the journal: makes this process's directory, adopts what dead processes left, and starts shipping. */
export async function openJournal(options: JournalOptions): Promise<OpenJournal> {
  const settings = { ...defaults, ...options };
  const { directory: root, database, log, timing, leaseMs } = settings;
  const newOutage = (what: string) => new Outage({ ...settings, what });
  const outages = {
    ledger: newOutage('settling requests in PostgreSQL'),
    telemetry: newOutage('shipping requests to telemetry'),
    reaper: newOutage('looking for overdue holds'),
    heartbeat: newOutage('keeping the journal directory'),
    adopter: newOutage('looking for journals of dead processes'),
    disk: newOutage('looking how much of the disk is free'),
  };

  const mark = await settings.processes.own();
  const instance = await InstanceDirectory.create({ ...settings, root, mark, confirmAfterMs: leaseMs / 2 });
  const backlog = new Backlog();
  const adopter = new OrphanAdopter({ ...settings, root, instance, backlog });
  await adopter.adopt().catch((error: unknown) => outages.adopter.failed(error));

  const disk = new DiskRoom(settings);
  await disk.look().catch((error: unknown) => outages.disk.failed(error));

  const wake = () => {
    loops.ledger.nudge();
    loops.telemetry.nudge();
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
    isRefusal: settings.isTelemetryRefusal,
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
    new Loop({ timing, step, firstPauseMs, onError: (error) => outage.failed(error) });
  const loops = {
    ledger: newLoop(outages.ledger, () => ledger.step()),
    telemetry: newLoop(outages.telemetry, () => telemetry.step()),
    reaper: newLoop(outages.reaper, async () => {
      const next = await reaper.step();
      outages.reaper.recovered();
      return next;
    }),
    adopter: newLoop(
      outages.adopter,
      async () => {
        await adopter.adopt();
        outages.adopter.recovered();
        wake();
        return pause(settings.adoptIntervalMs);
      },
      settings.adoptIntervalMs,
    ),
    heartbeat: newLoop(
      outages.heartbeat,
      async () => {
        await writer.confirm();
        outages.heartbeat.recovered();
        return pause(settings.heartbeatMs);
      },
      settings.heartbeatMs,
    ),
    disk: newLoop(
      outages.disk,
      async () => {
        await disk.look();
        outages.disk.recovered();
        return settings.minFreeBytes === 0 ? waitForNews() : pause(settings.diskIntervalMs);
      },
      settings.diskIntervalMs,
    ),
  };

  let appended = 0;
  let appendFailures = 0;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  const flush = async () => {
    await writer.drain();
    loops.ledger.hurry();
    loops.telemetry.hurry();
    const shipped = Promise.all(backlog.all().map((segment) => segment.done));
    if (await isWithin(timing, settings.flushTimeoutMs, shipped)) return;
    throw new Error(`not everything was shipped within ${settings.flushTimeoutMs} ms`);
  };

  const close = async () => {
    isClosed = true;
    await flush().catch((error: unknown) => {
      log.warn(
        { err: error, ledger: backlog.recordsOwed('ledger'), telemetry: backlog.recordsOwed('telemetry') },
        'the journal closes with records that are not shipped; they stay on disk for the next start',
      );
    });
    const stopped = Promise.all(Object.values(loops).map((loop) => loop.stop()));
    await isWithin(timing, STOP_TIMEOUT_MS, stopped);
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
      ledgerBacklog: backlog.recordsOwed('ledger'),
      telemetryBacklog: backlog.recordsOwed('telemetry'),
      segments: backlog.size,
      bytes: backlog.bytes,
      isLedgerFailing: outages.ledger.isOngoing,
      isTelemetryFailing: outages.telemetry.isOngoing,
      setAside: telemetry.setAsideRecords,
      holdsReleased: reaper.released,
    }),
    [Symbol.asyncDispose]() {
      closing ??= close();
      return closing;
    },
  };
}

/** Whether the work was done in time; the work goes on either way. Rejects when the work does. */
async function isWithin(timing: Timing, ms: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      work.then(() => true),
      timing.sleep(ms, timer.signal).then(() => timer.signal.aborted),
    ]);
  } finally {
    timer.abort();
  }
}
