import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { liveMany } from './credit-history.ts';

// Random histories of credit over two gateways, checked against the rules. credit-history.ts describes a history.
//
//   node tests/drills/credit-histories.ts [--histories 1000] [--seed N]
//
// Seeds count up from a random one. With --seed they start there, with one history unless --histories is given.

const { values } = parseArgs({ options: { histories: { type: 'string' }, seed: { type: 'string' } } });
const firstSeed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const histories = Number(values.histories ?? (values.seed === undefined ? 1_000 : 1));

const directory = await mkdtemp(join(tmpdir(), 'gatehouse-credit-'));
try {
  await using postgres = await openEmbeddedPostgres({ dataDir: directory });
  process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: postgres.connection });
  const { failure, tally } = await liveMany({ histories, firstSeed });
  const told = failure
    ? [`seed ${failure.seed} fails: ${failure.message}`, ...failure.trace]
    : [`no history of ${histories} from seed ${firstSeed} on contradicts the rules`];
  process.stdout.write(`${[...told, JSON.stringify(tally)].join('\n')}\n`);
  if (failure) process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
