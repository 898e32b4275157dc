import type { RequestLogEntry } from '@gatehouse/sdk';
import type { Context } from '../../terminal/command.ts';
import { unlessInterrupted } from '../../terminal/interruption.ts';
import { second, shown } from '../../terminal/output.ts';
import { asAccount } from './client.ts';
import { readLimit } from './read-limit.ts';

export async function listRequests(
  args: { readonly follow: string | undefined; readonly limit: string | undefined },
  context: Context,
): Promise<number> {
  const limit = readLimit(args.limit);
  const write = (row: RequestLogEntry) =>
    context.out(`${context.isJson ? JSON.stringify(row) : lineOf(row)}\n`);
  return asAccount(context, async (client) => {
    if (args.follow === undefined) {
      const { requests } = await client.analytics.listRequests({ limit });
      for (const row of requests.toReversed()) write(row);
      return 0;
    }
    return unlessInterrupted(async (interrupted) => {
      const follow = async () => {
        for await (const row of client.followRequests({}, { earlier: limit })) write(row);
      };
      return Promise.race([follow().then(() => 0), interrupted]);
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
