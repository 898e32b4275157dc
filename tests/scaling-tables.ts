import { FIXED_COSTS, REQUEST_COSTS, sizeFor, sizeRows, USUAL_DEMAND } from 'gatehouse/sizing';
import { KEPT_TABLES, type KeptTable } from './drills/capacity/kept-rows.ts';

// The tables of docs/scaling.md, from the calculation and from the list of what is kept.
//
//   node tests/scaling-tables.ts     prints them, to be put into the page between their comments

const RATES = [10, 100, 1_000, 10_000, 100_000];

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Tables that grow by the same thing and are kept alike have one line. */
const alike = ({ growth, kept, endedBy }: KeptTable) => [growth, kept, endedBy].join('|');

/** By name, as the page's comments call them. */
export function scalingTables(): ReadonlyMap<string, string> {
  const sizes = RATES.map((rate) => sizeFor({ ...USUAL_DEMAND, rate }));
  const costs = [...Object.values(REQUEST_COSTS), ...Object.values(FIXED_COSTS)];
  return new Map([
    [
      'sizes',
      table(['requests a second', ...RATES.map((rate) => rate.toLocaleString('en-US'))], sizeRows(sizes)),
    ],
    [
      'costs',
      table(
        ['', 'cost', 'from'],
        costs.map(({ meaning, value, unit, source }) => [
          meaning,
          `${value.toLocaleString('en-US')} ${unit}`,
          source === 'scaling.md' ? 'the soak below' : `[${source.replace(/^.*\/|#.*$/g, '')}](${source})`,
        ]),
      ),
    ],
    [
      'kept',
      table(
        ['table', 'a row is', 'kept', 'removed by'],
        [...Map.groupBy(KEPT_TABLES, alike).values()].map((tables) => [
          tables.map(({ table: name }) => `\`${name}\``).join(', '),
          [...new Set(tables.map(({ row }) => row))].join('; '),
          tables[0]?.kept ?? '',
          tables[0]?.endedBy ?? '',
        ]),
      ),
    ],
  ]);
}

if (import.meta.main)
  for (const [name, text] of scalingTables())
    process.stdout.write(`<!-- ${name} -->\n${text}\n<!-- end -->\n\n`);
