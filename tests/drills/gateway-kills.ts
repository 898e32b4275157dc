import assert from 'node:assert/strict';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { eventually, type ServiceProcess } from '../service-process.ts';
import { COST_MICRO_PKR, type Fleet } from './gateway-fleet.ts';

const CALLERS = 8;
const ANSWERS_BETWEEN = 50;

const listSettlements = statement<{ keyId: string }, { id: string; costMicroPkr: bigint }>(
  'drill-list-settlements',
  sql`SELECT request_id::text AS id, cost_micro_pkr FROM settlements WHERE key_id = ${'keyId'}`,
);
const countHolds = statement<NoParameters, { count: bigint }>(
  'drill-count-holds',
  sql`SELECT count(*) AS count FROM holds`,
);

/** The pids of the gateway processes that run now, by their number. */
export function gatewayPids({ logLines }: ServiceProcess): Map<number, number> {
  const started = logLines.filter(({ event }) => event === 'gateway.process_started');
  return new Map(started.map((line) => [line['process'] as number, line['pid'] as number]));
}

/** How many requests each gateway process has answered, by its number. */
export function answeredBy({ logLines }: ServiceProcess): Map<number, number> {
  const counts = new Map<number, number>();
  for (const line of logLines) {
    if (line['msg'] !== 'request') continue;
    const number = line['process'] as number;
    counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  return counts;
}

export interface KillsSurvived {
  readonly answered: number;
  /** Requests whose connection ended with the process. */
  readonly broken: number;
  readonly settled: number;
  readonly providerAnswered: number;
}

/**
 * Kills one of two gateway processes on one port again and again under load, in turn. Throws when the other does not
 * serve meanwhile, when a killed one does not come back and serve, or when the ledger lacks an answered request, has one
 * twice or has more than the provider answered.
 */
export async function killUnderLoad(fleet: Fleet, kills: number): Promise<KillsSurvived> {
  const service = fleet.services[0] as ServiceProcess;
  const key = await fleet.mint();
  const askedBefore = fleet.provider.asked.length;
  const answered: string[] = [];
  let broken = 0;
  let isOver = false;
  const ask = async () => {
    try {
      const answer = await fleet.send(0, key.secret);
      await answer.arrayBuffer();
      assert.equal(answer.status, 200);
      answered.push(answer.headers.get('x-request-id') as string);
    } catch (error) {
      // The error of fetch for a refused or broken connection.
      if (!(error instanceof TypeError)) throw error;
      broken += 1;
    }
  };
  const callers = Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!isOver) await ask();
    }),
  );
  const more = async () => {
    const enough = answered.length + ANSWERS_BETWEEN;
    await Promise.race([callers, eventually(async () => answered.length >= enough || undefined)]);
  };
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      await more();
      const number = 1 + (kill % 2);
      const pid = gatewayPids(service).get(number) as number;
      const before = answered.length;
      process.kill(pid, 'SIGKILL');
      await eventually(async () => gatewayPids(service).get(number) !== pid || undefined);
      assert.ok(answered.length > before, 'nothing was served while a process was replaced');
      const served = answeredBy(service).get(number) ?? 0;
      await eventually(async () => (answeredBy(service).get(number) ?? 0) > served || undefined);
    }
    await more();
  } finally {
    isOver = true;
    await callers;
  }

  // Another process ships what a killed one has recorded.
  const settled = await eventually(async () => {
    const rows = await fleet.database.many(listSettlements, { keyId: key.id });
    const ids = new Set(rows.map(({ id }) => id));
    return answered.every((id) => ids.has(id)) ? rows : undefined;
  });
  const providerAnswered = fleet.provider.asked.length - askedBefore;
  assert.equal(new Set(settled.map(({ id }) => id)).size, settled.length, 'a request was settled twice');
  for (const { id, costMicroPkr } of settled) assert.equal(costMicroPkr, BigInt(COST_MICRO_PKR), id);
  assert.ok(settled.length <= providerAnswered, `${settled.length} settled of ${providerAnswered}`);
  // An answer of the provider that no ledger has was in flight in a killed process; its hold waits for the deadline.
  const lost = providerAnswered - settled.length;
  assert.ok(lost <= broken, `${lost} were lost, and ${broken} connections broke`);
  const holds = (await fleet.database.one(countHolds))?.count ?? 0n;
  assert.ok(holds <= BigInt(broken), `${holds} holds for ${broken} broken requests`);
  return { answered: answered.length, broken, settled: settled.length, providerAnswered };
}
