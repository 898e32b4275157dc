import { isLoopbackOnly } from '../../config/hosts.ts';
import type { Context } from '../../terminal/command.ts';
import { confirmation } from '../../terminal/confirm.ts';
import { CommandError, invalidValue } from '../../terminal/errors.ts';
import { shown, warn } from '../../terminal/output.ts';
import { type ConnectArguments, readConnection } from './arguments.ts';
import type { Client, Connection, FileConfiguration } from './client.ts';
import { CLIENTS } from './clients.ts';
import { type ConfigFile, findConfigFile, replaceConfigFile } from './config-file.ts';
import { type Change, type Merged, merge, UnmergeableError } from './edit.ts';

// The configuration itself goes to standard output and all else to standard error, so that the answer can be piped.

interface Answer {
  readonly configuration: string;
  readonly file?: string;
  readonly changes?: readonly Change[];
  readonly isWritten: boolean;
  readonly backup?: string | undefined;
}

export async function connectClient(args: ConnectArguments, context: Context): Promise<number> {
  const client = CLIENTS.get(args.client);
  if (!client) throw invalidValue('CLIENT', args.client, [...CLIENTS.keys()].join(', '));
  const connection = await readConnection(args, context);
  if (connection.origin.startsWith('http:') && !isLoopbackOnly(new URL(connection.origin).hostname)) {
    warn(
      context,
      'over http, anyone on the network can read the key and every prompt; use https between machines',
    );
  }
  const answer =
    client.configuration.kind === 'text'
      ? printText(client.configuration.lines(connection), context)
      : await configure(client, client.configuration, connection, args, context);
  const remarks = client.remarks(connection);
  if (context.isJson) {
    const { configuration, file, changes, isWritten, backup } = answer;
    const document = {
      client: args.client,
      configuration,
      file,
      changes,
      written: isWritten,
      backup,
      remarks,
    };
    context.out(`${JSON.stringify(document, undefined, 2)}\n`);
  } else {
    for (const remark of remarks) warn(context, remark);
  }
  return 0;
}

function printText(lines: readonly string[], { isJson, out }: Context): Answer {
  const configuration = `${lines.join('\n')}\n`;
  if (!isJson) out(configuration);
  return { configuration, isWritten: false };
}

async function configure(
  { title }: Client,
  { format, paths, edits }: FileConfiguration,
  connection: Connection,
  args: ConnectArguments,
  context: Context,
): Promise<Answer> {
  const wanted = edits(connection);
  const configuration = merge(format, '', wanted).text;
  const mayAsk = () => context.isTerminal && context.input().isTTY === true;
  const isToWrite = args['dry-run'] === undefined && (args.yes !== undefined || mayAsk());
  if (!context.isJson) context.out(configuration);
  const find = async () => findConfigFile(paths(context.environment(), homeOf(context)));
  const file = await find().catch(unlessAsked(isToWrite, context));
  if (!file) return { configuration, isWritten: false };
  const merged = mergeFile(() => merge(format, file.text ?? '', wanted), file, isToWrite, context);
  if (!merged) return { configuration, file: file.path, isWritten: false };
  const { changes, text } = merged;
  const answer = { configuration, file: file.path, changes };
  if (changes.length === 0) {
    warn(context, `${file.path} already has this configuration`);
    if (connection.key.kind === 'value' && file.isReadableByOthers)
      warn(
        context,
        `it contains the key, and other accounts of this machine can read it: chmod 600 ${file.path}`,
      );
    return { ...answer, isWritten: false };
  }
  if (!isToWrite) {
    warn(context, `nothing was written; this belongs in ${file.path}`);
    return { ...answer, isWritten: false };
  }
  for (const { kind, path: name } of changes) context.err(`  ${kind.padEnd(7)} ${shown(name)}\n`);
  await confirmation(context, args.yes, 'this')(`Change ${shown(file.path)} for ${title}?`);
  const hasKey = connection.key.kind === 'value';
  const backup = await replaceConfigFile(file, text, hasKey);
  warn(context, `wrote ${file.path}${backup === undefined ? '' : `; the previous version is ${backup}`}`);
  if (hasKey && file.isReadableByOthers)
    warn(context, `${file.path} contains the key, so only its owner can read it now`);
  return { ...answer, isWritten: true, backup };
}

/** The merged file; undefined where that is impossible. Throws CommandError then if the file was to be written. */
function mergeFile(
  work: () => Merged,
  file: ConfigFile,
  isToWrite: boolean,
  context: Context,
): Merged | undefined {
  try {
    return work();
  } catch (error) {
    // The formats' parsers throw other errors too, for example for a file that is nested too deeply.
    const why = error instanceof UnmergeableError ? error.message : 'cannot be parsed';
    return unlessAsked(isToWrite, context)(new CommandError(`${file.path} ${why}; add the lines by hand`));
  }
}

function unlessAsked(isToWrite: boolean, context: Context): (error: Error) => undefined {
  return (error) => {
    if (isToWrite) throw error;
    warn(context, error.message);
    return undefined;
  };
}

function homeOf(context: Context): string {
  const { HOME, USERPROFILE } = context.environment();
  const home = HOME?.trim() || USERPROFILE?.trim();
  if (!home) throw new CommandError('HOME is not set, so the configuration file cannot be found');
  return home;
}
