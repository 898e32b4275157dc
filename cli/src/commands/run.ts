import { withoutUserInfo } from '../config/shown-value.ts';
import type { Context } from '../terminal/command.ts';
import { type Commands, readCommandLine } from '../terminal/command-line.ts';
import { CommandError, FaultsError, UsageError } from '../terminal/errors.ts';
import { shown } from '../terminal/output.ts';
import { VERSION } from '../terminal/version.ts';
import { table } from './table.ts';

export interface CommandEnvironment extends Omit<Context, 'isJson'> {
  /** Resolves once all output is written, with the error that prevented it, if any. */
  written(): Promise<Error | undefined>;
}

/** Runs a command line and returns the exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(
  args: readonly string[],
  environment: CommandEnvironment,
  commands: Commands = table,
): Promise<number> {
  let about: string | undefined;
  try {
    const invocation = readCommandLine(args, commands);
    if (invocation.kind !== 'run') {
      environment.out(invocation.kind === 'help' ? invocation.text : `${VERSION}\n`);
      requireWritten(await environment.written(), 'the answer');
      return 0;
    }
    about = invocation.command.name;
    const code = await invocation.command.run(invocation.args, { ...environment, isJson: invocation.isJson });
    requireWritten(await environment.written(), 'the command was carried out, but its answer');
    return code;
  } catch (error) {
    const code = error instanceof UsageError ? 2 : 1;
    // An address that is not accepted may have a password.
    const text = withoutUserInfo(sentence(error, about));
    // With --json errors are JSON too, on one line.
    environment.err(
      wantsJson(args) ? `${JSON.stringify({ error: text, exit_code: code })}\n` : `gatehouse: ${text}\n`,
    );
    return code;
  }
}

/** Also for a command line that cannot be parsed. */
function wantsJson(args: readonly string[]): boolean {
  return args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--json');
}

function requireWritten(error: Error | undefined, what: string): void {
  if (error) throw new CommandError(`${what} could not be written: ${error.message}`);
}

// Errors whose message is for the operator. By name, so that their modules need not be loaded.
const OPERATOR_ERRORS = new Set([
  'CommandError',
  'ConfigError',
  'CatalogueError',
  'ClusterBackupError',
  'AnchorsError',
  'AccountError',
  'DepositError',
  'PasswordError',
  'MigrationError',
  'EmbeddedPostgresError',
  'EmbeddedClickHouseError',
  'DataOwnerError',
  'DatabaseUnavailable',
  'VaultError',
  'DemoError',
]);

// Node's own errors are internal errors, except those about a server's certificate.
const PROGRAMMING = /^ERR_(?!TLS_|SSL_)/;

/** One line for an expected error, including system errors; a stack trace for an internal error. */
function sentence(error: unknown, about: string | undefined): string {
  if (!(error instanceof Error)) return shown(String(error));
  if (error instanceof UsageError) {
    const help = ['gatehouse', error.about ?? about, '--help'].filter(Boolean).join(' ');
    return shown(`${error.message}; see ${help}`);
  }
  // Several issues are a line each.
  if (error.name === 'ConfigError' || error instanceof FaultsError)
    return error.message.split('\n').map(shown).join('\n');
  if (!isKnown(error)) return (error.stack ?? error.message).split('\n').map(shown).join('\n');
  const cause = error.cause instanceof Error ? ` (${error.cause.message || codeOf(error.cause)})` : '';
  return shown(`${error.message}${cause}`.replaceAll(/\s*[\r\n]+\s*/g, ' '));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isKnown(error: Error): boolean {
  if (OPERATOR_ERRORS.has(error.name)) return true;
  const code = codeOf(error);
  return code !== '' && !PROGRAMMING.test(code);
}
