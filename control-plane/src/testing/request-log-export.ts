import assert from 'node:assert/strict';
import { analytics } from '@gatehouse/contract';
import type { z } from 'zod';
import type { RawReply } from './api-client.ts';
import { readCsv } from './read-csv.ts';
import type { SignedUp } from './test-api.ts';

export const CSV = 'text/csv';
export const NDJSON = 'application/x-ndjson';

export type Query = Readonly<Record<string, string | number>>;
export type Entry = z.output<typeof analytics.RequestLogEntry>;

/** A request for the request log. */
export function exportRequest({ client }: SignedUp, accept: string | undefined, query: Query = {}) {
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return {
    method: 'GET',
    path: `/api/analytics/requests?${search.join('&')}`,
    headers: {
      cookie: [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(accept === undefined ? {} : { accept }),
    },
  };
}

/** Requests the request log with this Accept header. */
export function askForExport(
  account: SignedUp,
  accept: string | undefined,
  query?: Query,
): Promise<RawReply> {
  return account.client.raw(exportRequest(account, accept, query));
}

/** The text of a successful export. */
export async function exportText(account: SignedUp, accept: string, query?: Query): Promise<string> {
  const reply = await askForExport(account, accept, query);
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

/** The rows of a CSV export, as text by column name. */
export async function exportedCsv(
  account: SignedUp,
  query?: Query,
): Promise<Record<string, string | null>[]> {
  const [head = [], ...lines] = readCsv(await exportText(account, CSV, query));
  return lines.map((line) => {
    assert.equal(line.length, head.length);
    return Object.fromEntries(line.map((cell, index) => [head[index], cell]));
  });
}

/** The rows of an NDJSON export, each checked against the contract. */
export async function exportedNdjson(account: SignedUp, query?: Query): Promise<Entry[]> {
  const lines = (await exportText(account, NDJSON, query)).split('\n');
  assert.equal(lines.pop(), '');
  return lines.map((line) => analytics.RequestLogEntry.parse(JSON.parse(line)));
}
