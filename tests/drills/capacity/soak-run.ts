import type { HeapSample } from './heap-samples.ts';
import type { ProcessName, ProcessSample } from './process-samples.ts';
import type { FolderSample, TableSample } from './store-samples.ts';

/** Everything at one moment. Counts of requests are since the sample before. */
export interface SoakSample {
  readonly seconds: number;
  readonly processes: Readonly<Partial<Record<ProcessName, ProcessSample>>>;
  readonly heaps: Readonly<Record<string, HeapSample>>;
  /** Rows of PostgreSQL's tables. */
  readonly tables: Readonly<Record<string, TableSample>>;
  readonly connections: number;
  readonly walBytes: number;
  readonly databaseBytes: number;
  readonly engineTables: Readonly<Record<string, TableSample & { readonly parts: number }>>;
  readonly folders?: Readonly<Record<string, FolderSample>>;
  readonly sent: number;
  readonly leftOut: number;
  readonly answered: number;
  readonly wrong: number;
  readonly inFlight: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SoakRun {
  readonly totalSeconds: number;
  /** How long a settlement stays a row: compressed time. */
  readonly keptSeconds: number;
  readonly rate: number;
  readonly capacity: number;
  readonly folded: number;
  readonly samples: readonly SoakSample[];
  readonly sums: SoakSums;
  /** How often people did what. */
  readonly people: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  /** Samples that could not be taken, and why. */
  readonly missed: readonly string[];
  readonly beforeSamples: number;
}

/** Three counts of the requests that were served and cost something. */
export interface SoakSums {
  readonly settled: number;
  readonly logged: number;
  readonly spentMicroPkr: string;
  readonly settledMicroPkr: string;
  readonly heldMicroPkr: string;
}
