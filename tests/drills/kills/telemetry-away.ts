import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../service-process.ts';
import type { Drill } from '../drill.ts';
import { seeded } from '../seeded.ts';
import { account } from './account.ts';
import { countRows, holdsIn, readBooks } from './books.ts';
import { type Callers, type Sent, startCallers } from './callers.ts';
import type { Node } from './node.ts';
import { createOwner } from './owner.ts';
import { openStand, type Stand } from './stand.ts';

// Telemetry is away for as many minutes as there are cycles, at full load, with the time compressed: the gateway serves as much as it
// can for a while, with telemetry and then without, and for the rest of the time another process writes the records that it would have
// written, as fast as it can (write-backlog.ts). Then telemetry comes back while callers go on as before. The drill measures what
// callers noticed, and how many times as fast as new records arrive the old ones are shipped.

const CALLERS = 16;
const MEASURED_MS = 10_000;
const MIN_RATIO = 5;
const DRAINED_WITHIN_MS = 20 * 60_000;
const SAMPLE_MS = 500;

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers by their status, and what broke. */
  readonly answers: string;
  readonly faultless: boolean;
}

export const drill: Drill = async ({ cycles: minutes, seed, log }) => {
  await using stand = await openStand(seeded(seed), 0);
  const api = await stand.startNode('api', 'machine');
  const gateway = await stand.startNode('gateway', 'machine');
  const owner = await createOwner(api.port, 4);
  const sent: Sent[] = [];
  const callers = () =>
    startCallers(
      {
        ports: [gateway.port],
        secrets: owner.keys.map(({ secret }) => secret),
        callers: CALLERS,
        random: seeded(seed + sent.length),
        pauseMs: 0,
        kinds: ['json', 'stream'],
        isUp: () => true,
      },
      sent.length + 1,
    );
  const during = async (load: Callers, work: Promise<unknown>): Promise<Measured> => {
    const startedAt = performance.now();
    try {
      await work;
    } finally {
      await load.stop();
    }
    sent.push(...load.sent);
    return measure(load.sent, performance.now() - startedAt);
  };
  const tell = (when: string, one: Measured, than?: Measured) => {
    const ratio = than ? ` (${(one.p50Ms / than.p50Ms).toFixed(2)} times before)` : '';
    log(
      `${when}: ${one.perSecond.toFixed(0)} requests/s, p50 ${one.p50Ms.toFixed(1)} ms${ratio}, p99 ${one.p99Ms.toFixed(1)} ms; ${one.answers}`,
    );
  };

  // The first requests of a process are slow.
  await during(callers(), delay(MEASURED_MS / 4));
  const before = await during(callers(), delay(MEASURED_MS));
  tell('before', before);
  await stand.engineProxy.set({ kind: 'refused' });
  const away = await during(callers(), delay(MEASURED_MS));
  tell('telemetry away', away, before);

  const journal = join(stand.directory, 'machine', 'journal');
  const count = Math.ceil(before.perSecond * 60 * minutes);
  const wroteMs = await writeBacklog(journal, count, minutes);
  const bytes = await bytesOf(journal);
  const each = bytes / (count + away.perSecond * (MEASURED_MS / 1_000));
  log(
    `${minutes} minutes at ${before.perSecond.toFixed(0)} requests/s: ${count} records written in ${(wroteMs / 1_000).toFixed(0)} s; the journal has ${(bytes / 1e6).toFixed(0)} MB, ${each.toFixed(0)} bytes a request`,
  );

  const stored = await countRows(stand.telemetry);
  await stand.engineProxy.set({ kind: 'none' });
  const load = callers();
  const startedAt = performance.now();
  let drainedMs = 0;
  const draining = (async () => {
    let last = stored;
    await eventually(async () => {
      await delay(SAMPLE_MS);
      last = await countRows(stand.telemetry);
      return last >= stored + count + away.perSecond * (MEASURED_MS / 1_000) || undefined;
    }, DRAINED_WITHIN_MS);
    drainedMs = performance.now() - startedAt;
    return last;
  })();
  const after = await during(load, draining);
  tell('telemetry back, while the backlog is shipped', after, before);
  const shipped = (await draining) - stored;
  // Rows that arrived since are shipped too, and so count against the rate that is left for the backlog.
  const backlogPerSecond = (shipped / drainedMs) * 1_000 - after.perSecond;
  const ratio = shipped / drainedMs / (after.perSecond / 1_000);
  log(
    `${shipped} rows stored in ${(drainedMs / 1_000).toFixed(0)} s, ${((shipped / drainedMs) * 1_000).toFixed(0)} a second: ${ratio.toFixed(1)} times the arrival rate; the backlog shrank by ${backlogPerSecond.toFixed(0)} a second`,
  );

  const broken = [before, away, after].flatMap((one) =>
    one.faultless ? [] : [`callers noticed: ${one.answers}`],
  );
  if (ratio < MIN_RATIO)
    broken.push(`stored ${ratio.toFixed(1)} times the arrival rate; ${MIN_RATIO} times are promised`);
  return [...broken, ...(await compare(stand, gateway, sent, count))];
};

/** Each request, and each record that was written for one, is a row exactly once. */
async function compare(stand: Stand, gateway: Node, sent: readonly Sent[], count: number): Promise<string[]> {
  const all = sent.length + count;
  await eventually(
    async () =>
      ((await countRows(stand.telemetry)) >= all && (await holdsIn(stand.database)) === 0) || undefined,
    120_000,
  ).catch(() => undefined);
  const query = `SELECT count() AS rows, uniqExact(request_id) AS ids, countIf(metadata['kept'] = 'yes') AS kept FROM request_log`;
  const answer = await stand.telemetry.query({ query, format: 'JSONEachRow' });
  const [found] = await answer.json<{ rows: string; ids: string; kept: string }>();
  const broken: string[] = [];
  if (Number(found?.kept) !== count) broken.push(`${found?.kept} rows of ${count} records`);
  if (found?.rows !== found?.ids) broken.push(`${found?.rows} rows of ${found?.ids} requests`);
  const books = await readBooks(stand.database, stand.telemetry, `metadata['kept'] = ''`);
  const { killedAtMs } = gateway;
  return [...broken, ...account({ sent, bill: stand.provider.bill, books, killedAtMs: [killedAtMs] }).broken];
}

function measure(sent: readonly Sent[], tookMs: number): Measured {
  const times = sent.map(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs).toSorted((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(Math.floor(times.length * share), times.length - 1)] ?? Number.NaN;
  const kinds = Map.groupBy(sent, ({ status, isWhole }) => (isWhole ? String(status) : 'broken'));
  return {
    perSecond: (sent.length / tookMs) * 1_000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answers: [...kinds].map(([kind, { length }]) => `${length} x ${kind}`).join(', '),
    faultless: kinds.size === 1 && kinds.has('200'),
  };
}

/** In milliseconds, how long it took. */
async function writeBacklog(journal: string, count: number, minutes: number): Promise<number> {
  const files = (await readdir(journal, { recursive: true })).filter((name) =>
    /\.(open|owes[^.]*)$/.test(name),
  );
  const sizes = await Promise.all(
    files.map(async (name) => ({ name, size: (await stat(join(journal, name))).size })),
  );
  const [largest] = sizes.toSorted((a, b) => b.size - a.size);
  if (!largest) throw new Error('the journal keeps nothing, although telemetry is away');
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'write-backlog.ts'),
      join(journal, largest.name),
      journal,
      `${count}`,
      `${minutes}`,
    ],
    { stdio: 'inherit' },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the backlog could not be written: ${code}`);
  return performance.now() - startedAt;
}

async function bytesOf(directory: string): Promise<number> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files
      .filter((file) => file.isFile())
      // A segment may be moved or deleted meanwhile.
      .map((file) =>
        stat(join(file.parentPath, file.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
