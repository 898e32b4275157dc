import type { OrganizationId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import {
  forgetHolds,
  type Key,
  measure,
  median,
  newKeys,
  openBenchDatabase,
  released,
  type Work,
} from './admission-load.ts';

// What spend limits cost an admission: the same requests with none and with six, each released at its end, alternating, on one
// server.
//
//   node bench/spend-limits.ts [requests a round]

const perRound = Number(process.argv[2] ?? 4_000);
const ROUNDS = 7;

const addLimits = statement<{ organizationId: OrganizationId }>(
  'bench-add-limits',
  sql`
    WITH b AS (UPDATE balances SET spend_limits = 6 WHERE organization_id = ${'organizationId'})
    INSERT INTO spend_limits (organization_id, scope_kind, scope_id, time_window, time_zone, limit_micro_pkr, mode, alert_at)
    SELECT k.organization_id, s.kind, CASE s.kind WHEN 'project' THEN k.project_id WHEN 'key' THEN k.id END, w.unit, 'Asia/Karachi',
           1000000000000, 'refuse', '{80,100}'
    FROM (SELECT * FROM api_keys WHERE organization_id = ${'organizationId'} LIMIT 1) k,
         unnest('{organization,project,key}'::text[]) AS s (kind), unnest('{day,month}'::text[]) AS w (unit)`,
);

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { owner, database } = await openBenchDatabase(stack);
  const [none, six] = [await newKeys(owner, 1, 1), await newKeys(owner, 1, 1)];
  for (const { organizationId } of six) await owner.run(addLimits, { organizationId });
  const kinds: [name: string, work: Work, keys: readonly Key[]][] = [
    ['no limits', released(database), none],
    ['six limits', released(database), six],
  ];
  process.stdout.write(
    `| clients | ${kinds.map(([name]) => `${name}, p50 ms`).join(' | ')} | requests/s |\n`,
  );
  for (const clients of [1, 32, 128]) {
    const figures = kinds.map((): Awaited<ReturnType<typeof measure>>[] => []);
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const [index, [, work, keys]] of kinds.entries()) {
        const measured = await measure(work, keys, clients, perRound);
        await owner.run(forgetHolds);
        // The first opens windows and plans statements.
        if (round > 0) figures[index]?.push(measured);
      }
    const p50 = figures.map((rounds) => median(rounds.map(({ p50Ms }) => p50Ms)));
    const rates = figures.map((rounds) => median(rounds.map(({ perSecond }) => perSecond)));
    const ratio = (values: readonly number[], index: number) =>
      `${(values[index] ?? 0).toFixed(values === p50 ? 3 : 0)} (${((values[index] ?? 0) / (values[0] ?? 1)).toFixed(2)})`;
    process.stdout.write(
      `| ${clients} | ${p50.map((_, index) => ratio(p50, index)).join(' | ')} | ${rates.map((_, index) => ratio(rates, index)).join(', ')} |\n`,
    );
  }
}

await main();
