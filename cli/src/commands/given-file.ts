import { readFile } from 'node:fs/promises';
import { CommandError } from '../terminal/errors.ts';

/** The text of the file that FILE names. `read` takes the place of reading all of it. @throws CommandError where it cannot be read */
export function readGivenFile(
  path: string,
  read: (path: string) => Promise<string> = (whole) => readFile(whole, 'utf8'),
): Promise<string> {
  return read(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`FILE is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
}
