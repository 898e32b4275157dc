import { admit, createAdmissions } from '@gatehouse/gateway/testing';
import type { Database } from '@gatehouse/store';
import {
  admission,
  type Figures,
  forgetHolds,
  measure,
  median,
  newKeys,
  openBenchDatabase,
  released,
  type Work,
} from './admission-load.ts';

// The gain of admitting concurrent requests of an organisation in one statement. The same requests are admitted with one
// statement each over the pool, and as the gateway does it, alternating, on one server. Then the same with the surplus of each
// hold released before the client's next request.
//
//   node bench/admission.ts [requests a round]

const perRound = Number(process.argv[2] ?? 4_000);
const ROUNDS = 5;

function alone(database: Database): Work {
  return (key) => admit(database, key.organizationId, [admission(key)]);
}

/** As the gateway admits. */
function together(database: Database): Work {
  const admissions = createAdmissions(database, 60_000);
  return (key) => admissions.admit(key.organizationId, admission(key));
}

function row(...cells: (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { owner, database } = await openBenchDatabase(stack);
  const loads = [
    ['one key', await newKeys(owner, 1, 1)],
    ['64 keys of one organisation', await newKeys(owner, 1, 64)],
    ['a key of each of 64 organisations', await newKeys(owner, 64, 1)],
  ] as const;

  const works = [alone, together, released].map((make) => make(database));
  row('keys', 'clients', 'figure', 'each alone', 'together', 'ratio', 'and released', 'ratio to together');
  row('---', '---', '---', '---', '---', '---', '---', '---');
  for (const [name, keys] of loads) {
    for (const clients of [1, 32, 128]) {
      const figures: Figures[][] = works.map(() => []);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, work] of works.entries()) {
          figures[index]?.push(await measure(work, keys, clients, perRound));
          await owner.run(forgetHolds);
        }
      }
      for (const [label, field, digits] of [
        ['requests/s', 'perSecond', 0],
        ['p50 ms', 'p50Ms', 2],
        ['p99 ms', 'p99Ms', 2],
      ] as const) {
        const [one = Number.NaN, all = Number.NaN, both = Number.NaN] = figures.map((rounds) =>
          median(rounds.map((round) => round[field])),
        );
        const [first, second, third] = [one, all, both].map((figure) => figure.toFixed(digits));
        row(
          name,
          clients,
          label,
          `${first}`,
          `${second}`,
          (all / one).toFixed(2),
          `${third}`,
          (both / all).toFixed(2),
        );
      }
    }
  }
}

await main();
