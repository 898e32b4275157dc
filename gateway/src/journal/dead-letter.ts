import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './segment.ts';

/** The directory of dead letters, beside the instance directories. Operators and backups know the name. */
export const DEAD_LETTER_DIRECTORY = 'rejected';

/**
 * Keeps lines that no sink will ever take in a file for an operator. Writing the same name again replaces it, so a
 * repeat after a crash leaves one file. Returns its path.
 */
export async function writeDeadLetter(
  root: string,
  name: string,
  lines: readonly (Buffer | string)[],
): Promise<string> {
  const directory = join(root, DEAD_LETTER_DIRECTORY);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    for (const line of lines) {
      await file.appendFile(line);
      if (!line.toString().endsWith('\n')) await file.appendFile('\n');
    }
    await file.datasync();
  }
  await rename(`${path}.new`, path);
  await syncDirectory(directory);
  return path;
}
