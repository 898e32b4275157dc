import type { Environment } from '../../terminal/command.ts';
import type { ConfigFormat, Edit } from './edit.ts';

/** The address, key and models that a client is configured with. */
export interface Connection {
  /** The gateway's address, without a path: `http://localhost:8081`. */
  readonly origin: string;
  readonly key: Key;
  /** A route or an alias; undefined where none was chosen. */
  readonly model: string | undefined;
}

/** A gateway key, or the environment variable that has it. */
export type Key =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'variable'; readonly name: string };

export interface Client {
  /** As its makers write it. */
  readonly title: string;
  /** Further steps for the person, one sentence each. */
  readonly remarks: (connection: Connection) => readonly string[];
  readonly configuration: FileConfiguration | TextConfiguration;
}

/** A file that can be changed. */
export interface FileConfiguration {
  readonly kind: 'file';
  readonly format: ConfigFormat;
  /** Its paths, the one that the client prefers first; the last is made where there is none. `home` is the person's directory. */
  readonly paths: (environment: Environment, home: string) => readonly string[];
  readonly edits: (connection: Connection) => readonly Edit[];
}

/** Text that a person enters somewhere. */
export interface TextConfiguration {
  readonly kind: 'text';
  readonly lines: (connection: Connection) => readonly string[];
}

/** Answers on a new installation, without an account at a provider. */
export const FIRST_MODEL = 'demo/echo';

/** The base URL of OpenAI's clients. */
export function openaiBaseUrl({ origin }: Connection): string {
  return `${origin}/v1`;
}

/** The key in a POSIX shell. */
export function shellKey({ key }: Connection): string {
  return key.kind === 'value' ? key.value : `"$${key.name}"`;
}

/** Says that the variable must be set, where the configuration names one. */
export function keyRemark({ key }: Connection, program: string): string[] {
  return key.kind === 'value' ? [] : [`set ${key.name} to a gateway key in the environment of ${program}`];
}
