import { cpuPerRequest, PROVIDER, type Results } from './results.ts';

// What Gatehouse is held to. The times were set on a machine where nginx proxies 70,000 requests a second at 64 connections,
// so that they are judged beside the calibration of the report.

export interface Bar {
  readonly name: string;
  readonly limit: string;
  /** Undefined when something that it needs was not measured. */
  readonly figure: string | undefined;
  readonly isMet: boolean;
}

const PORTKEY = 'Portkey';
export const LOADED = 64;

const TIMES_PORTKEY = 5;
const ADDED_MS = 0.5;
const FIRST_TOKEN_MS = 0.5;
const MAIN_THREAD_US = 100;
const POSTGRES_US = 40;

/** The figures of the first Gatehouse, or of another subject. */
export function barsOf(results: Results, ours = results.gatehouses[0] ?? ''): Bar[] {
  const at = (connections: number, subject: string) => results.figures('json', connections, subject);
  const first = (subject: string) => results.figures('sse', 1, subject)?.firstP50Ms ?? Number.NaN;
  const loaded = results.cell('json', LOADED, ours);
  const rate = (subject: string) => at(LOADED, subject)?.perSecond ?? Number.NaN;
  const p99 = (subject: string) => at(LOADED, subject)?.p99Ms ?? Number.NaN;
  const p50 = (subject: string) => at(1, subject)?.p50Ms ?? Number.NaN;
  const added = p50(ours) - p50(PROVIDER);
  const addedByPortkey = p50(PORTKEY) - p50(PROVIDER);
  const addedToFirst = first(ours) - first(PROVIDER);
  const mainThread = loaded ? cpuPerRequest(loaded, 'main thread') : Number.NaN;
  const postgres = loaded ? cpuPerRequest(loaded, 'PostgreSQL') : Number.NaN;
  return [
    bar(
      `requests/s at ${LOADED} connections, beside Portkey`,
      `at least ${TIMES_PORTKEY} times`,
      rate(ours) / rate(PORTKEY),
      (ratio) => `${ratio.toFixed(2)} times`,
      (ratio) => ratio >= TIMES_PORTKEY,
    ),
    bar('added p50 at 1 connection', `below ${ADDED_MS} ms`, added, ms, (value) => value < ADDED_MS),
    bar(
      'added p50 at 1 connection, beside Portkey',
      Number.isNaN(addedByPortkey) ? "below Portkey's" : `below ${ms(addedByPortkey)}`,
      Number.isNaN(addedByPortkey) ? Number.NaN : added,
      ms,
      (value) => value < addedByPortkey,
    ),
    bar(
      `p99 at ${LOADED} connections, beside Portkey`,
      Number.isNaN(p99(PORTKEY)) ? "at most Portkey's" : `at most ${ms(p99(PORTKEY))}`,
      Number.isNaN(p99(PORTKEY)) ? Number.NaN : p99(ours),
      ms,
      (value) => value <= p99(PORTKEY),
    ),
    bar(
      "first token p50 at 1 connection, over the provider's",
      `at most ${FIRST_TOKEN_MS} ms`,
      addedToFirst,
      ms,
      (value) => value <= FIRST_TOKEN_MS,
    ),
    bar(
      `main thread per request at ${LOADED} connections`,
      `at most ${MAIN_THREAD_US} µs`,
      mainThread,
      us,
      (value) => value <= MAIN_THREAD_US,
    ),
    bar(
      `PostgreSQL per request at ${LOADED} connections`,
      `at most ${POSTGRES_US} µs`,
      postgres,
      us,
      (value) => value <= POSTGRES_US,
    ),
  ];
}

const ms = (value: number) => `${value.toFixed(2)} ms`;
const us = (value: number) => `${value.toFixed(0)} µs`;

function bar(
  name: string,
  limit: string,
  value: number,
  inWords: (value: number) => string,
  isMet: (value: number) => boolean,
): Bar {
  const isMeasured = Number.isFinite(value);
  return { name, limit, figure: isMeasured ? inWords(value) : undefined, isMet: isMeasured && isMet(value) };
}
