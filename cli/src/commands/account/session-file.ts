import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SavedSession } from '@gatehouse/sdk';
import type { Environment } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';

/** The session of a person at a service. */
export interface StoredSession {
  /** The root of the service: `https://gatehouse.example.com`. */
  readonly url: string;
  readonly session: SavedSession;
}

/** The file in the configuration folder of the user. */
export function sessionFile(environment: Environment): string {
  const configured = environment['XDG_CONFIG_HOME'];
  const folder = configured?.startsWith('/') ? configured : join(environment['HOME'] || homedir(), '.config');
  return join(folder, 'gatehouse', 'session.json');
}

/** Undefined where nobody has signed in. */
export async function readSession(environment: Environment): Promise<StoredSession | undefined> {
  const path = sessionFile(environment);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CommandError(`the session in ${path} cannot be read (${error.code})`);
  });
  if (text === undefined) return undefined;
  try {
    const stored = JSON.parse(text) as StoredSession;
    if (typeof stored.url === 'string' && Array.isArray(stored.session.cookies)) return stored;
  } catch {
    // Said below.
  }
  throw new CommandError(`the session in ${path} is damaged; sign in again with gatehouse account login`);
}

/** Readable by its owner alone, and whole or not there. */
export async function writeSession(environment: Environment, stored: StoredSession): Promise<void> {
  const path = sessionFile(environment);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await using file = await open(draft, 'wx', 0o600);
  await file.writeFile(JSON.stringify(stored));
  // Whatever the mask is.
  await chmod(draft, 0o600);
  await rename(draft, path);
}

export async function removeSession(environment: Environment): Promise<void> {
  await rm(sessionFile(environment), { force: true });
}
