import { setTimeout as delay } from 'node:timers/promises';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { createTelemetryClient } from '@gatehouse/store';
import type { Drill } from '../drill.ts';
import { seeded } from '../seeded.ts';
import { scrapeHeaps } from './heap-samples.ts';
import { sampleProcesses } from './process-samples.ts';
import { findRate, type Ramp } from './soak-capacity.ts';
import { type Load, spendCredit, startLoad } from './soak-load.ts';
import { startPeople } from './soak-people.ts';
import { reportOf } from './soak-report.ts';
import type { SoakRun, SoakSample } from './soak-run.ts';
import { type SoakService, startSoakService } from './soak-service.ts';
import { checkSums } from './soak-sums.ts';
import { compressTime, foldSettlements } from './soak-time.ts';
import { sampleEngine, sampleFolders, samplePostgres } from './store-samples.ts';

// A steady mixed load for an hour: memory and tables stop growing. Requests arrive at a fixed rate, half of what a ramp at the start
// finds and no more than keeps Gatehouse's own processes below a share of the processors. soak-main.ts has more options.

const SAMPLE_MS = 10_000;
const FOLD_MS = 60_000;
const WARM_UP_MS = 5_000;

export interface SoakOptions {
  readonly minutes: number;
  /** The processors that Gatehouse's own processes may use. */
  readonly cores: number;
  /** Requests a second, instead of what the ramp finds. */
  readonly rate?: number | undefined;
  readonly seed: number;
  readonly log: (line: string) => void;
  readonly sampleMs?: number;
  readonly ramp?: Ramp;
  /** Called with all samples so far. */
  readonly onSamples?: (samples: readonly SoakSample[]) => void;
}

export async function soak(options: SoakOptions): Promise<SoakRun> {
  const { minutes, log, sampleMs = SAMPLE_MS } = options;
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startSoakService());
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir: service.dataDir }));
  const telemetry = createTelemetryClient(engine);
  stack.defer(() => telemetry.close());
  const totalSeconds = minutes * 60;
  const keptSeconds = Math.ceil(totalSeconds / 6);
  await compressTime(service.database, keptSeconds);
  const pid = service.service.child.pid ?? 0;
  const { gatewayPort } = service.service;
  await Promise.all(service.organizations.map((one) => spendCredit(gatewayPort, one)));
  const load = startLoad(gatewayPort, service.organizations, seeded(options.seed));
  stack.defer(() => load.stop());

  const { rate, capacity, coresAtRate } = await findRate(load, pid, options, log);
  log(
    `Capacity ${capacity} requests/s; the soak sends ${rate} a second, for ${minutes} minutes (${coresAtRate.toFixed(2)} cores)`,
  );
  load.rate = rate;
  const people = startPeople(service.service.apiPort, service.organizations);
  stack.defer(() => people.stop());
  await delay(WARM_UP_MS);

  let folded = 0;
  let foldedAt = performance.now();
  const samples: SoakSample[] = [];
  const missed: string[] = [];
  const start = performance.now();
  const sentBefore = load.take();
  for (let number = 0; performance.now() - start < totalSeconds * 1_000; number += 1) {
    await delay(Math.max(0, start + number * sampleMs - performance.now()));
    try {
      if (performance.now() - foldedAt > FOLD_MS) {
        foldedAt = performance.now();
        folded += await foldSettlements(service.database);
      }
      const taken = await sample(service, telemetry, load, (performance.now() - start) / 1_000, number);
      samples.push(taken);
      if (number % 6 === 0) log(lineOf(taken));
    } catch (error) {
      // On a machine that is busy with other programs a statement may be too late. The load goes on.
      missed.push(String(error));
      log(`no sample: ${error}`);
    }
    options.onSamples?.(samples);
  }
  load.rate = 0;
  await people.stop();
  await load.stop();
  const sums = await checkSums(service, telemetry);
  return {
    totalSeconds,
    keptSeconds,
    rate,
    capacity,
    folded,
    samples,
    sums,
    people: Object.fromEntries(people.done),
    failures: people.failures,
    missed,
    beforeSamples: sentBefore.sent,
  };
}

async function sample(
  service: SoakService,
  telemetry: ReturnType<typeof createTelemetryClient>,
  load: Load,
  seconds: number,
  number: number,
): Promise<SoakSample> {
  const [processes, heaps, postgres, engineTables] = [
    await sampleProcesses(service.service.child.pid ?? 0),
    await scrapeHeaps(service.metricsPort),
    await samplePostgres(service.database),
    await sampleEngine(telemetry),
  ];
  const counts = load.take();
  counts.latenciesMs.sort((a, b) => a - b);
  const quantile = (q: number) => counts.latenciesMs[Math.floor(q * (counts.latenciesMs.length - 1))] ?? 0;
  return {
    seconds,
    processes: Object.fromEntries(processes),
    heaps,
    tables: Object.fromEntries(postgres.tables),
    connections: postgres.connections ?? 0,
    walBytes: postgres.walBytes ?? 0,
    databaseBytes: postgres.databaseBytes ?? 0,
    engineTables: Object.fromEntries(engineTables),
    // Reading all files takes a moment.
    ...(number % 3 === 0 && { folders: Object.fromEntries(await sampleFolders(service.dataDir)) }),
    sent: counts.sent,
    leftOut: counts.leftOut,
    answered: counts.answered,
    wrong: counts.wrong,
    inFlight: load.inFlight(),
    statuses: Object.fromEntries(counts.statuses),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}

const mb = (bytes = 0) => `${(bytes / 1e6).toFixed(0)} MB`;
const lineOf = ({ seconds, sent, wrong, p99Ms, processes: { api, gateway, engine, postgres } }: SoakSample) =>
  `${(seconds / 60).toFixed(1).padStart(5)} min: ${sent} sent, ${wrong} wrong, p99 ${p99Ms.toFixed(0)} ms; api ${mb(api?.residentBytes)}, gateway ${mb(gateway?.residentBytes)}, engine ${mb(engine?.residentBytes)}, postgres ${mb(postgres?.privateBytes)}`;

export const drill: Drill = async ({ cycles, seed, log }) => {
  const { text, findings } = reportOf(await soak({ minutes: cycles, cores: 0.7, seed, log }));
  log(text);
  return findings;
};
