import type { Context } from './command.ts';
import { type Commands, readCommandLine } from './command-line.ts';
import { UsageFault } from './faults.ts';
import { table } from './table.ts';

export const VERSION = '0.1.0';

/** Runs a command line and returns the exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(
  args: readonly string[],
  surroundings: Omit<Context, 'isJson'>,
  commands: Commands = table,
): Promise<number> {
  let about: string | undefined;
  try {
    const wish = readCommandLine(args, commands);
    if (wish.kind !== 'run') {
      surroundings.out(wish.kind === 'help' ? wish.text : `${VERSION}\n`);
      return 0;
    }
    about = wish.command.name;
    return await wish.command.run(wish.given, { ...surroundings, isJson: wish.isJson });
  } catch (error) {
    surroundings.err(`gatehouse: ${sentence(error, about)}\n`);
    return error instanceof UsageFault ? 2 : 1;
  }
}

// Errors whose message was written for the operator. By name, so that their modules need not be loaded to tell.
const WRITTEN_FOR_PEOPLE = new Set([
  'CommandFault',
  'ConfigFault',
  'CatalogueFault',
  'AnchorsFault',
  'DepositRefused',
  'PasswordRefused',
  'MigrationRefused',
  'EmbeddedPostgresRefused',
  'DatabaseUnavailable',
]);

/** One line for what is known, a system's error included; a stack only for what nobody foresaw. */
function sentence(error: unknown, about: string | undefined): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageFault) {
    return `${error.message}; see ${['gatehouse', error.about ?? about, '--help'].filter(Boolean).join(' ')}`;
  }
  const isKnown = WRITTEN_FOR_PEOPLE.has(error.name) || ('code' in error && typeof error.code === 'string');
  if (!isKnown) return error.stack ?? error.message;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.replaceAll(/\s*[\r\n]+\s*/g, ' ');
}
