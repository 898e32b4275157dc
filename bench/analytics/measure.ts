import { cookieOf } from './accounts.ts';
import { startApi } from './api-process.ts';
import { fastest, type Send, sendTo } from './baseline.ts';
import { QUERIES, WINDOWS } from './bench-queries.ts';
import type { BenchQuery, Facts, Target, Window } from './bench-query.ts';
import { databaseOf, END_MICROS } from './fill.ts';
import { createHttpClient } from './http-client.ts';
import { progress } from './progress.ts';
import type { SendReference } from './reference-queries.ts';
import type { ReferenceServer } from './reference-server.ts';
import type { Line, Results } from './results.ts';
import type { BenchStores } from './stores.ts';
import { findSubjects, type Subject } from './subjects.ts';

const WARM_UP = 2;
const BASELINE_TRIES = 5;
/** The time for the reference in one line. Past it, it runs in fewer rounds than the others, but in this many at least. */
const REFERENCE_BUDGET_MS = 8_000;
const REFERENCE_ROUNDS = 5;

interface Senders {
  readonly api: (path: string) => Promise<{ ms: number; body: unknown; bytes: number }>;
  readonly baseline: Send;
  /** With covering indexes, and with indexes that only find rows. */
  readonly reference: SendReference | undefined;
  readonly referencePlain: SendReference | undefined;
}

export interface MeasureOptions {
  readonly rows: number;
  readonly rounds: number;
  readonly only: RegExp;
  readonly again: boolean;
}

/** Runs every query on a filled store, in every form, and keeps the times. */
export async function measure(
  stores: BenchStores,
  reference: ReferenceServer | undefined,
  results: Results,
  { rows, rounds, only, again }: MeasureOptions,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const database = databaseOf(rows);
  const client = stack.adopt(stores.connect(database), (open) => open.close());
  const windows = Object.entries(WINDOWS).map(([text, days]): Window => {
    const fromMicros = END_MICROS - BigInt(days) * 86_400_000_000n;
    return { text, days, fromMicros, toMicros: END_MICROS };
  });
  const subjects = await findSubjects(client, database, windows);
  const api = stack.use(
    await startApi({
      control: stores.control,
      telemetry: stores.telemetry,
      telemetryDatabase: database,
      nowMicros: String(END_MICROS),
    }),
  );
  const sendReference = reference && (await openReference(stack, reference, database));
  const sendPlain =
    reference && (await openReference(stack, reference, database, 'SET enable_indexonlyscan = off'));
  for (const subject of subjects) {
    const http = stack.use(createHttpClient(api.port, cookieOf(subject.organizationId)));
    const senders: Senders = {
      async api(path) {
        const { status, ms, body } = await http.get(path);
        if (status !== 200) throw new Error(`${path} answered ${status} ${body.toString().slice(0, 300)}`);
        return { ms, bytes: body.length, body: JSON.parse(body.toString()) as unknown };
      },
      baseline: sendTo(client),
      reference: sendReference,
      referencePlain: sendPlain,
    };
    for (const query of QUERIES.filter(({ name }) => only.test(name))) {
      for (const window of windows.filter(({ text }) => query.windows.includes(text))) {
        const line = { rows, query: query.name, subject: subject.label, window: window.text };
        if (!again && results.has(line)) continue;
        const figures = await measureLine(query, subject, window, rounds, senders);
        await results.add({ ...line, kind: query.kind, ...figures });
        progress(`${rows} ${subject.label} ${query.name} ${window.text}: ${inShort(figures)}`);
      }
    }
  }
}

async function openReference(
  stack: AsyncDisposableStack,
  reference: ReferenceServer,
  database: string,
  setting = 'SELECT',
): Promise<SendReference> {
  const opened = stack.use(reference.open(database));
  // A connection of its own has none of the pool's time limits.
  const connection = stack.adopt(await opened.connect(), (open) => open.end());
  await connection.query(setting);
  return async <Row>(name: string, text: string, values: readonly unknown[]) =>
    (await connection.query({ name, text, values: [...values] })).rows as Row[];
}

type Figures = Pick<Line, 'api' | 'baseline' | 'reference' | 'referencePlain' | 'baselineName' | 'bytes'>;

async function measureLine(
  query: BenchQuery,
  subject: Subject,
  window: Window,
  rounds: number,
  { api, baseline, ...references }: Senders,
): Promise<Figures> {
  const at = (round: number): Target => ({ subject, window, round });
  const plansAt = (round: number) => query.baseline(at(round));
  const best = await fastest(plansAt, baseline, BASELINE_TRIES);
  const planAt = (round: number) => {
    const plan = plansAt(round)[best];
    if (!plan) throw new Error(`${query.name} has no baseline`);
    return plan;
  };

  const figures = {
    api: [] as number[],
    baseline: [] as number[],
    reference: [] as number[],
    referencePlain: [] as number[],
  };
  let bytes = 0;
  const spentMs = { reference: 0, referencePlain: 0 };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    // A text searched for during the warm-up is not searched for again.
    const now = at(round + WARM_UP + BASELINE_TRIES);
    const facts: [who: string, facts: Facts][] = [];
    const timed = async (who: keyof typeof figures, run: () => Promise<Facts>) => {
      const startedAt = performance.now();
      facts.push([who, await run()]);
      const ms = performance.now() - startedAt;
      if (round >= 0) figures[who].push(ms);
      return ms;
    };
    const ways = [
      async () => {
        const answer = await api(query.path(now));
        facts.push(['api', query.facts(answer.body)]);
        bytes = answer.bytes;
        if (round >= 0) figures.api.push(answer.ms);
      },
      () => timed('baseline', () => planAt(now.round).run(baseline)),
      ...(['reference', 'referencePlain'] as const).map((who) => async () => {
        const send = references[who];
        if (!send || (spentMs[who] > REFERENCE_BUDGET_MS && figures[who].length >= REFERENCE_ROUNDS)) return;
        const ms = await timed(who, () => query.reference(now).run(send));
        if (round >= 0) spentMs[who] += ms;
      }),
    ];
    // Another one goes first in each round.
    for (let n = 0; n < ways.length; n += 1) await ways[(round + WARM_UP + n) % ways.length]?.();
    requireAgreement(`${query.name} of the ${subject.label}, ${window.text}`, facts);
  }
  return {
    ...figures,
    baselineName: planAt(0).name,
    bytes,
  };
}

/** A faster answer that differs is no comparison. */
function requireAgreement(what: string, answers: readonly [who: string, facts: Facts][]): void {
  const [[first, facts] = ['', []], ...others] = answers;
  for (const [who, same] of others) {
    const agrees =
      facts.length === same.length && facts.every((value, index) => isClose(value, same[index] ?? null));
    if (!agrees)
      throw new Error(`${what}: ${first} says ${JSON.stringify(facts)}, ${who} ${JSON.stringify(same)}`);
  }
}

function isClose(a: string | number | null, b: string | number | null): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

const inShort = ({ api, baseline, reference, referencePlain, baselineName }: Figures) =>
  `${middle(api)} ms, baseline ${middle(baseline)} (${baselineName}), reference ${middle(reference)}, plain ${middle(referencePlain)}`;
const middle = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]?.toFixed(1) ?? '-';
