import { join, resolve } from 'node:path';
import { settings } from '../config/config.ts';
import { isLoopbackOnly } from '../config/hosts.ts';
import type { Setting } from '../config/setting.ts';
import type { Environment } from '../terminal/command.ts';

// Commands that are printed as a next step. Another terminal has neither the settings of this process nor its working
// directory, so what is printed carries both.

export const PROJECT = join(import.meta.dirname, '../../..');

const { apiPort, dashboard, dataDir, gatewayPort, host, joinPolicy, signupCreditMicroPkr, tlsCert, tlsKey } =
  settings;
const LISTENERS: readonly Setting<unknown>[] = [host, apiPort, gatewayPort, tlsCert, tlsKey, dashboard];
// Required with a HOST that other machines can reach.
const CHOICES: readonly Setting<unknown>[] = [joinPolicy, signupCreditMicroPkr, settings.trustedProxyHops];
const PATHS: ReadonlySet<string> = new Set([dataDir.name, tlsCert.name, tlsKey.name]);

/** The facts of this process that a printed command has to carry. */
export interface CommandOrigin {
  readonly environment: Environment;
  /** The directory that relative paths refer to; that of the process unless given. */
  readonly workingDirectory?: string;
}

/** The command as it acts on the embedded stores of this process. */
export function dataCommand(command: string, origin: CommandOrigin): string {
  return withSettings(command, [dataDir], origin);
}

/** The command as it also starts, or names, listeners as this process has them. */
export function serviceCommand(command: string, origin: CommandOrigin): string {
  const text = textOf(host, origin.environment);
  const choices = text === undefined || isLoopbackOnly(text) ? [] : CHOICES;
  return withSettings(command, [dataDir, ...LISTENERS, ...choices], origin);
}

function withSettings(
  command: string,
  some: readonly Setting<unknown>[],
  { environment, workingDirectory = process.cwd() }: CommandOrigin,
): string {
  const isInProject = workingDirectory === PROJECT;
  const words = some.flatMap((setting) => {
    const { name } = setting;
    const fallback = setting === dataDir && !isInProject ? dataDir.read(undefined) : undefined;
    const text = textOf(setting, environment) ?? fallback;
    if (text === undefined) return [];
    return [`${name}=${quoted(PATHS.has(name) ? resolve(workingDirectory, text) : text)}`];
  });
  // npm and npx find the command in the project's folder only.
  const folder = isInProject ? '' : `cd ${quoted(PROJECT)} && `;
  return folder + [...words, command].join(' ');
}

function textOf({ name }: Setting<unknown>, environment: Environment): string | undefined {
  return environment[name]?.trim() || undefined;
}

/** Quoted as one word for a shell. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
