import type { Environment } from './commands/command.ts';
import { run } from './commands/run.ts';

/** Runs the command line of this process and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // Whoever reads our output may have read enough (`| head`); what is left then goes nowhere.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return run(args, {
    environment,
    input: () => process.stdin,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
}

/** The one place where the environment is read. What it says itself goes before what the file says. */
function environment(): Environment {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return process.env;
}
