import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './segment.ts';

/**
 * Lines that no store will ever take, set aside where an operator finds them: in `rejected/` beside the instance
 * directories. Writing the same name again replaces it, so a repeat after a crash leaves one file.
 */
export async function setAside(
  root: string,
  name: string,
  lines: readonly (Buffer | string)[],
): Promise<string> {
  const directory = join(root, 'rejected');
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
