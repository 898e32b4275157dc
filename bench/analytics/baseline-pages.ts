import { type BaselinePlan, hoursAndEdges, inWindow, RAW, type Send, type SendOptions } from './baseline.ts';
import type { Facts, Target } from './bench-query.ts';

const PAGE_ROWS = 50;

const COLUMNS = `request_id, timestamp, model, status, stream, key_id, project_id, total_ms, ttft_ms, tpot_ms,
  pre_dispatch_ms, prompt_tokens, tokens_generated, cache_creation_input_tokens, cache_read_input_tokens,
  total_tokens, tokens_estimated, cost_micro_pkr, is_byok, termination_reason, upstream_error, upstream_model,
  user_agent, metadata`;

export interface PageRow {
  readonly request_id: string;
}

interface Counted {
  readonly total: number;
}

/** The total, and how many rows came, and the first and the last of them. */
export const pageFacts = (total: number, rows: readonly PageRow[]): Facts => [
  total,
  rows.length,
  rows[0]?.request_id ?? null,
  rows.at(-1)?.request_id ?? null,
];

const page = (where: string, offset: number, limit = PAGE_ROWS, order = 'DESC') =>
  `SELECT ${COLUMNS} FROM request_log WHERE ${where}
   ORDER BY timestamp ${order}, request_id ${order} LIMIT ${limit} OFFSET ${offset}`;

const count = (where: string) => `SELECT count() AS total FROM request_log WHERE ${where}`;

const totalOf = async (send: Send, sql: string, options: SendOptions = RAW) =>
  (await send<Counted>(sql, options))[0]?.total ?? 0;

/** For a whole window the engine counts most rows by the primary key, which it takes for a projection. */
const totalOfAll = (send: Send, sql: string) => totalOf(send, sql, {});

/** A page by its count and its rows: together, or the count first, which spares the rows of an empty page and lets the
 *  engine remember where nothing is. */
export function filteredPlans(at: Target, filter: string): BaselinePlan[] {
  const where = `${inWindow(at)}${filter}`;
  return [
    {
      name: 'together',
      async run(send) {
        const [total, rows] = await Promise.all([
          totalOf(send, count(where)),
          send<PageRow>(page(where, 0), RAW),
        ]);
        return pageFacts(total, rows);
      },
    },
    {
      name: 'count first',
      async run(send) {
        const total = await totalOf(send, count(where));
        return pageFacts(total, total === 0 ? [] : await send<PageRow>(page(where, 0), RAW));
      },
    },
    {
      name: 'one pass, then the rows',
      async run(send) {
        const [found] = await send<{ total: number; newest: number[] }>(
          `SELECT count() AS total, groupArraySorted(${PAGE_ROWS})(-toUnixTimestamp64Micro(timestamp)) AS newest
           FROM request_log WHERE ${where}`,
          RAW,
        );
        if (!found || found.total === 0) return pageFacts(0, []);
        const times = found.newest.map((micros) => `fromUnixTimestamp64Micro(${-micros})`).join();
        return pageFacts(
          found.total,
          await send<PageRow>(page(`${where} AND timestamp IN (${times})`, 0), RAW),
        );
      },
    },
  ];
}

interface OneRow extends PageRow {
  readonly attempts: string;
}

/** One request by its id: within the millisecond that the id has, and anywhere. */
export function onePlans({ subject }: Target, requestId: string): BaselinePlan[] {
  const ms = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
  const [from, to] = [ms, ms + 1].map((at) => `fromUnixTimestamp64Milli(${at})`);
  const one = `SELECT ${COLUMNS}, attempts FROM request_log
    WHERE organization_id = '${subject.organizationId}' AND request_id = '${requestId}'`;
  const plan = (name: string, sql: string): BaselinePlan => ({
    name,
    async run(send) {
      const [row] = await send<OneRow>(sql, RAW);
      return [row?.request_id ?? null];
    },
  });
  return [
    plan('by its time', `${one} AND timestamp >= ${from} AND timestamp < ${to}`),
    plan('by its id', one),
  ];
}

/** A page of the whole window, from the offset that `offsetOf` makes of its total. */
export function offsetPlans(at: Target, offsetOf: (total: number) => number): BaselinePlan[] {
  const where = inWindow(at);
  const { hours, edges } = hoursAndEdges(at);
  const byHour = `SELECT toUnixTimestamp(toStartOfHour(timestamp)) AS hour, count() AS total FROM request_log`;
  const plans: BaselinePlan[] = [
    {
      name: 'count first',
      async run(send) {
        const total = await totalOfAll(send, count(where));
        if (offsetOf(total) >= total) return pageFacts(total, []);
        return pageFacts(total, await send<PageRow>(page(where, offsetOf(total)), RAW));
      },
    },
    {
      name: 'from the nearer end',
      async run(send) {
        const total = await totalOfAll(send, count(where));
        const offset = offsetOf(total);
        if (offset >= total) return pageFacts(total, []);
        if (offset * 2 < total) return pageFacts(total, await send<PageRow>(page(where, offset), RAW));
        const limit = Math.min(PAGE_ROWS, total - offset);
        const rows = await send<PageRow>(page(where, total - offset - limit, limit, 'ASC'), RAW);
        return pageFacts(total, rows.reverse());
      },
    },
    {
      name: 'by hour counts',
      async run(send) {
        const found = await send<{ hour: number; total: number }>(
          `SELECT hour, sum(total) AS total FROM (${byHour} WHERE ${hours} GROUP BY hour
             UNION ALL ${byHour} WHERE ${edges} GROUP BY hour) GROUP BY hour ORDER BY hour DESC`,
        );
        const total = found.reduce((sum, hour) => sum + hour.total, 0);
        const offset = offsetOf(total);
        if (offset >= total) return pageFacts(total, []);
        let before = 0;
        let through = 0;
        let first: number | undefined;
        let last = 0;
        for (const { hour, total: inHour } of found) {
          if (through + inHour > offset && first === undefined) {
            first = hour;
            before = through;
          }
          through += inHour;
          last = hour;
          if (through >= offset + PAGE_ROWS) break;
        }
        const between = `${where} AND timestamp < fromUnixTimestamp64Micro(${((first ?? 0) + 3_600) * 1_000_000})
                         AND timestamp >= fromUnixTimestamp64Micro(${last * 1_000_000})`;
        return pageFacts(total, await send<PageRow>(page(between, offset - before), RAW));
      },
    },
  ];
  if (offsetOf(Number.MAX_SAFE_INTEGER) === 0) {
    plans.push({
      name: 'together',
      async run(send) {
        const [total, rows] = await Promise.all([
          totalOfAll(send, count(where)),
          send<PageRow>(page(where, 0), RAW),
        ]);
        return pageFacts(total, rows);
      },
    });
  }
  return plans;
}
