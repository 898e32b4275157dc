import { join } from 'node:path';
import { insertAccounts } from './analytics/accounts.ts';
import { DAYS, databaseOf, fillTelemetry } from './analytics/fill.ts';
import { measure } from './analytics/measure.ts';
import { readOptions } from './analytics/options.ts';
import { loadReference } from './analytics/reference-load.ts';
import { openReferenceServer } from './analytics/reference-server.ts';
import { report } from './analytics/report.ts';
import { openResults } from './analytics/results.ts';
import { openBenchStores } from './analytics/stores.ts';

// How long analytics queries take over HTTP, next to the same queries written by hand for the same engine (the baseline)
// and for PostgreSQL (the reference), alternating, over stores of several sizes: 100 organisations whose sizes follow
// Zipf's law, 90 days.
//
//   node bench/analytics.ts [--rows 1000000,10000000,50000000] [--dir <folder>] [--rounds 30] [--only <pattern>]
//                           [--reference postgres|none] [--reference-rows 1000000,10000000] [--steps fill,reference,measure,report] [--again]
//
// With --dir, data and results are kept, and another run continues from them. Where this runs as root, other users must be
// able to enter the directory, because PostgreSQL runs as another user.

const ORGANIZATIONS = 100;

const options = readOptions(process.argv.slice(2));
await using stores = await openBenchStores(options.directory);
const results = await openResults(stores.directory);
const does = (step: Parameters<typeof options.steps.has>[0]) => options.steps.has(step);

if (does('fill')) {
  for (const rows of options.sizes) {
    const database = databaseOf(rows);
    await fillTelemetry(stores, { database, rows, days: DAYS, organizations: ORGANIZATIONS });
    await using client = stores.connect(null);
    await insertAccounts(stores.owner, client, database);
  }
}
if (does('reference') || does('measure')) {
  await using stack = new AsyncDisposableStack();
  const reference =
    options.referenceSizes.length === 0
      ? undefined
      : stack.use(await openReferenceServer(join(stores.directory, 'reference')));
  if (reference && does('reference'))
    for (const rows of options.referenceSizes) await loadReference(stores, reference, rows);
  if (does('measure')) {
    for (const rows of options.sizes) {
      await measure(stores, options.referenceSizes.includes(rows) ? reference : undefined, results, {
        ...options,
        rows,
      });
    }
  }
}
if (does('report')) await report(stores, results, options.sizes);
