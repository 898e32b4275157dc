import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { type KeyId, uuidFromText } from '@gatehouse/contract';
import { listRevokedKeys } from '@gatehouse/control-plane/keys';
import type { Database } from '@gatehouse/store';
import { CommandError } from '../../terminal/errors.ts';

// Only ids, which cannot be used as keys.
interface RevokedKeysFile {
  readonly revoked_keys: readonly { readonly id: string; readonly revoked_at: string }[];
}

/** Replaces the file with the ids of all revoked keys. Returns their number. */
export async function writeRevokedKeys(database: Database, path: string): Promise<number> {
  const keys = await listRevokedKeys(database);
  const document: RevokedKeysFile = {
    revoked_keys: keys.map(({ id, revokedAt }) => ({ id, revoked_at: revokedAt })),
  };
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(document, undefined, 1)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CommandError(
      `--revoked-keys is ${JSON.stringify(path)}, which cannot be written: ${(error as Error).message}`,
    );
  }
  return keys.length;
}

/** The ids in such a file. Throws CommandError for any other file. */
export async function readRevokedKeys(path: string): Promise<KeyId[]> {
  const refusal = `--revoked-keys is ${JSON.stringify(path)}, which`;
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${refusal} cannot be read: ${error.message}`);
  });
  const keys = (parsed(text) as Partial<RevokedKeysFile> | null | undefined)?.revoked_keys;
  const ids = Array.isArray(keys) ? keys.map((key: { id?: unknown } | null) => key?.id) : [undefined];
  if (ids.every((id) => typeof id === 'string' && uuidFromText(id) !== undefined)) return ids as KeyId[];
  throw new CommandError(`${refusal} is not a file that gatehouse backup --revoked-keys wrote`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
