import { randomUUID } from 'node:crypto';
import type { KeyId, OrganizationId, ProjectId } from '@gatehouse/contract';
import {
  referenceCsvLine,
  referenceNdjsonLine,
  requestCsvLine,
  requestLogEntry,
} from '@gatehouse/control-plane/testing';
import { encodeLine, referenceLine } from '@gatehouse/gateway/testing';
import { type StoredRequest, shownRequestLogColumns } from '@gatehouse/store';
import { quantile } from './analytics/quantiles.ts';
import { type FinishedRequest, finishedRequests } from './analytics/requests.ts';

// The time of writing one row of the request log as a line of the journal, of NDJSON and of CSV. The code that follows the
// list of columns and code written by hand for the same row alternate, after a check that both write the same bytes.
//
//   node bench/request-rows.ts [rounds]

const rounds = Number(process.argv[2] ?? 200);
const ROWS = 250;

const id = <T extends string>() => randomUUID() as string as T;
const subject = {
  organizationId: id<OrganizationId>(),
  projectId: id<ProjectId>(),
  keyIds: [id<KeyId>(), id<KeyId>()],
  models: ['openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'],
};
const requests = finishedRequests(subject, ROWS);
const rows = requests.map(storedRow);
const names = {
  keys: new Map(subject.keyIds.map((key) => [key as string, 'backend'])),
  projects: new Map([[subject.projectId as string, 'Default']]),
};

/** The row that a query returns for the request. */
function storedRow(request: FinishedRequest): StoredRequest {
  const members = shownRequestLogColumns.map(({ field, kind, read, absent }) => {
    const value = request[field] ?? absent ?? null;
    if (value instanceof Map) return [read, Object.fromEntries(value)];
    if (kind === 'flag') return [read, Number(value)];
    return [read, typeof value === 'bigint' || (kind === 'count' && value !== null) ? String(value) : value];
  });
  // Parsed, as the API has it.
  return JSON.parse(JSON.stringify(Object.fromEntries(members)));
}

const print = (line: string) => process.stdout.write(`${line}\n`);

const cases: readonly (readonly [title: string, list: () => string, reference: () => string])[] = [
  ['journal line', () => joined(requests, encodeLine), () => joined(requests, referenceLine)],
  [
    'NDJSON line',
    () => joined(rows, (row) => `${JSON.stringify(requestLogEntry(row, names))}\n`),
    () => joined(rows, (row) => referenceNdjsonLine(row, names)),
  ],
  [
    'CSV line',
    () => joined(rows, (row) => requestCsvLine(row, names)),
    () => joined(rows, (row) => referenceCsvLine(row, names)),
  ],
];

function joined<T>(of: readonly T[], line: (row: T) => string): string {
  return of.map(line).join('');
}

/** Microseconds a row, with the conversion to bytes. */
function measure(text: () => string): number {
  const start = performance.now();
  Buffer.from(text());
  return ((performance.now() - start) * 1_000) / ROWS;
}

print(
  `| ${ROWS} rows, ${rounds} rounds | minimum µs | median µs | by hand, minimum µs | by hand, median µs | ratio of the minima |`,
);
print('|---|---|---|---|---|---|');
for (const [title, list, reference] of cases) {
  if (list() !== reference()) throw new Error(`${title}: the bytes differ`);
  const times = { list: [] as number[], reference: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.list.push(measure(list));
    times.reference.push(measure(reference));
  }
  const [a, b] = [Math.min(...times.list), Math.min(...times.reference)];
  const figures = [a, quantile(times.list, 0.5), b, quantile(times.reference, 0.5), a / b];
  print(`| ${title} | ${figures.map((figure) => figure.toFixed(2)).join(' | ')} |`);
}
