import { parseArgs } from 'node:util';
import { type Role, readConfig } from './config.ts';

const HELP = `gatehouse: the control plane of an LLM inference gateway, with the gateway itself

Usage
  gatehouse start [--role all|api|gateway]   run the service, or one part of it
  gatehouse --help                           show this
  gatehouse --version                        show the version

Settings come from the environment, or from a file named .env in the working directory.
The table of them is in docs/configuration.md.

Examples
  gatehouse start
  PORT=9000 DATA_DIR=/var/lib/gatehouse gatehouse start
`;

const VERSION = '0.1.0';

/** Wrong usage: one line on standard error and exit code 2. */
class UsageFault extends Error {
  override readonly name = 'UsageFault';
}

/** Runs the command line and returns the exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parse(args);
    if (values.help) return print(HELP);
    if (values.version) return print(`${VERSION}\n`);
    const [command, ...rest] = positionals;
    if (command !== 'start' || rest.length > 0) {
      throw new UsageFault(
        command === undefined
          ? 'a command is needed: start'
          : `unknown command ${positionals.join(' ')}; the only one is start`,
      );
    }
    loadEnvironmentFile();
    // Loaded only now: help and a wrong word should not wait for the whole service.
    const { start } = await import('./start.ts');
    // The one place where the environment is read.
    await start(readConfig(process.env), roleOf(values.role), process.env);
    return 0;
  } catch (error) {
    process.stderr.write(`gatehouse: ${sentence(error)}\n`);
    return error instanceof UsageFault ? 2 : 1;
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        role: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

function roleOf(text: string | undefined): Role {
  const role = text ?? 'all';
  if (role === 'all' || role === 'api' || role === 'gateway') return role;
  throw new UsageFault(`--role is ${text}, expected all, api or gateway`);
}

function loadEnvironmentFile(): void {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

// Errors whose message was written for the operator. By name, so that their modules need not be loaded to tell.
const WRITTEN_FOR_PEOPLE = new Set([
  'UsageFault',
  'ConfigFault',
  'CatalogueFault',
  'MigrationRefused',
  'EmbeddedPostgresRefused',
  'DatabaseUnavailable',
]);

/** One line for what is known, a system's error included; a stack only for what nobody foresaw. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isKnown = WRITTEN_FOR_PEOPLE.has(error.name) || ('code' in error && typeof error.code === 'string');
  if (!isKnown) return error.stack ?? error.message;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.replaceAll('\n', ' ');
}
