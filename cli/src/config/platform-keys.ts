import type { Logger } from 'pino';
import { fileVariable, textOf } from './setting-text.ts';

// The platform's own keys for providers. A catalogue names the variable of each, which may be in a file as secret settings may.

type Environment = Readonly<Record<string, string | undefined>>;

const keyOf = (variable: string, environment: Environment) =>
  textOf({ name: variable, fileVariable: fileVariable(variable) }, environment);

/** Why the key cannot be used although it is set; undefined where it can, or is not set. */
export function platformKeyIssue(variable: string, environment: Environment): string | undefined {
  return keyOf(variable, environment).issue;
}

/** True if the key is set and can be read. */
export function hasPlatformKey(variable: string, environment: Environment): boolean {
  const { text, issue } = keyOf(variable, environment);
  return text !== undefined && issue === undefined;
}

/** The keys by their variables. Each is read once: a request waits for no file. */
export function platformKeys(
  environment: Environment,
  log: Logger,
): (variable: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (variable) => {
    if (known.has(variable)) return known.get(variable);
    const { text, issue } = keyOf(variable, environment);
    // Of a provider that came after the start, which checks those that it finds.
    if (issue !== undefined)
      log.error({ event: 'provider.key_unusable', issue }, 'the key of a provider cannot be used');
    const key = issue === undefined ? text : undefined;
    known.set(variable, key);
    return key;
  };
}
