import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type Failure, STEPS, simulateMany } from './ledger-simulation.ts';

// Simulates histories of the ledger on the real database and compares it with a model after every step.
// ledger-simulation.ts describes a history.
//
//   node tests/drills/ledger-histories.ts [--histories 100000] [--seed N]
//
// Seeds count up from a random one. With --seed they start there, with one history unless --histories is given.

const { values } = parseArgs({ options: { histories: { type: 'string' }, seed: { type: 'string' } } });
const firstSeed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const histories = Number(values.histories ?? (values.seed === undefined ? 100_000 : 1));

function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function run(): Promise<Failure | undefined> {
  if (process.env['GATEHOUSE_TEST_SERVERS'] !== undefined) return simulate();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-ledger-'));
  try {
    await using postgres = await openEmbeddedPostgres({ dataDir: directory });
    process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: postgres.connection });
    return await simulate();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function simulate(): Promise<Failure | undefined> {
  return simulateMany({
    histories,
    firstSeed,
    onProgress: ({ done, seconds }) => tell(`${done} histories, ${seconds.toFixed(0)} s`),
  });
}

tell(`${histories} histories of ${STEPS} steps from seed ${firstSeed}`);
const failure = await run();
if (failure) {
  const { seed, step, message, trace } = failure;
  tell([`seed ${seed} fails at step ${step + 1}: ${message}`, ...trace].join('\n'));
  tell(`again: node tests/drills/ledger-histories.ts --seed ${seed}`);
  process.exitCode = 1;
} else {
  tell('no history contradicts the model or its own rows');
}
