import { join } from 'node:path';
import { insertAccounts } from './analytics/accounts.ts';
import { DAYS, databaseOf, fillTelemetry } from './analytics/fill.ts';
import { measure } from './analytics/measure.ts';
import { readOptions } from './analytics/options.ts';
import { loadPeer } from './analytics/peer-load.ts';
import { openPeerServer } from './analytics/peer-server.ts';
import { report } from './analytics/report.ts';
import { openResults } from './analytics/results.ts';
import { openBenchStores } from './analytics/stores.ts';

// How long the questions of analytics take through HTTP, beside the same questions put by hand to the same engine and
// to PostgreSQL, in turn, over stores of several sizes: 100 organisations whose sizes follow Zipf's law, 90 days.
//
//   node bench/analytics.ts [--rows 1000000,10000000,50000000] [--dir <folder>] [--rounds 30] [--only <pattern>]
//                           [--peer postgres|none] [--peer-rows 1000000,10000000] [--steps fill,peer,measure,report] [--again]
//
// With a folder, what was filled and measured is kept, and another run goes on from there. It must be one that other
// users can enter if this runs as root, since PostgreSQL then does not.

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
if (does('peer') || does('measure')) {
  await using stack = new AsyncDisposableStack();
  const peer =
    options.peerSizes.length === 0
      ? undefined
      : stack.use(await openPeerServer(join(stores.directory, 'peer')));
  if (peer && does('peer')) for (const rows of options.peerSizes) await loadPeer(stores, peer, rows);
  if (does('measure')) {
    for (const rows of options.sizes) {
      await measure(stores, options.peerSizes.includes(rows) ? peer : undefined, results, {
        ...options,
        rows,
      });
    }
  }
}
if (does('report')) await report(stores, results, options.sizes);
