import { listDrills, readDrillCommand, UsageError } from './command-line.ts';

// `npm run drill -- NAME [--cycles N] [--seed S] [--only PART]`: runs a drill of table.ts. Without a name it lists them. Exits 1 when a promise was
// broken, and 2 when the command is wrong.

const log = (line: string) => void process.stdout.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  const command = readDrillCommand(args);
  if (command === undefined) {
    log(listDrills());
    return 0;
  }
  const { entry, cycles, seed, only } = command;
  log(`npm run drill -- ${entry.name} --cycles ${cycles}${entry.isSeeded ? ` --seed ${seed}` : ''}`);
  const startedAt = performance.now();
  const drill = await entry.load();
  const broken = await drill({ cycles, seed, only, log }).catch((error: Error) => [
    error.stack ?? error.message,
  ]);
  for (const one of broken) log(`BROKEN: ${one}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  log(broken.length === 0 ? `passed in ${seconds} s` : `failed in ${seconds} s: ${broken.length} broken`);
  return broken.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
