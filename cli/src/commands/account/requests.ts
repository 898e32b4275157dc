import { systemClock } from '@gatehouse/concurrency';
import type { RequestLogEntry } from '@gatehouse/sdk';
import type { Context } from '../../terminal/command.ts';
import { unlessInterrupted } from '../../terminal/interruption.ts';
import { second, shown } from '../../terminal/output.ts';
import { asAccount } from './client.ts';
import { readLimit } from './read-limit.ts';

const POLL_MS = 2_000;
const MAX_PAGE = 200;
/** Requests that are known, so that none is printed twice. */
const MAX_SEEN = 10_000;

export async function listRequests(
  args: { readonly follow: string | undefined; readonly limit: string | undefined },
  context: Context,
): Promise<number> {
  const limit = readLimit(args.limit);
  const write = (rows: readonly RequestLogEntry[]) => {
    for (const row of rows.toReversed())
      context.out(`${context.isJson ? JSON.stringify(row) : lineOf(row)}\n`);
  };
  return asAccount(context, async (client) => {
    const newest = async (count: number, offset = 0) =>
      (await client.analytics.listRequests({ limit: count, offset })).requests;
    const first = await newest(limit);
    write(first);
    if (args.follow === undefined) return 0;
    const seen = new Set(first.map(({ req_id }) => req_id));
    return unlessInterrupted(async (interrupted) => {
      for (;;) {
        await Promise.race([systemClock.sleep(POLL_MS), interrupted]);
        const fresh: RequestLogEntry[] = [];
        for (let offset = 0; offset < MAX_SEEN; offset += MAX_PAGE) {
          const page = await Promise.race([newest(MAX_PAGE, offset), interrupted]);
          const unseen = page.filter(({ req_id }) => !seen.has(req_id));
          for (const { req_id } of unseen) seen.add(req_id);
          fresh.push(...unseen);
          // Older ones were printed, or came before.
          if (unseen.length < MAX_PAGE) break;
        }
        for (const id of seen) {
          if (seen.size <= MAX_SEEN) break;
          seen.delete(id);
        }
        write(fresh);
      }
    });
  });
}

function lineOf({ timestamp, status, model, metrics, financials, key }: RequestLogEntry): string {
  const { total_ms, total_tokens } = metrics;
  return [
    second(timestamp),
    String(status),
    shown(model),
    `${total_tokens} tokens`,
    `${(total_ms / 1_000).toFixed(2)} s`,
    `${financials.cost_pkr} PKR`,
    shown(key?.name ?? '-'),
  ].join('  ');
}
