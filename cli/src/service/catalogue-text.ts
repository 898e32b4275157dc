import { open } from 'node:fs/promises';
import { MAX_CATALOGUE_CHARACTERS } from '@gatehouse/control-plane/catalogue';

// Enough to detect a file that is too large, however many bytes its characters take.
const MAX_BYTES = 4 * (MAX_CATALOGUE_CHARACTERS + 1);

/** The text of a catalogue file; only the beginning of one that is too large. Rejects with the system's error. */
export async function readCatalogueText(path: string): Promise<string> {
  await using file = await open(path);
  const bytes = Buffer.allocUnsafe(MAX_BYTES);
  let length = 0;
  // A pipe returns partial reads, and a device never ends.
  for (let read = -1; read !== 0 && length < MAX_BYTES; length += read) {
    read = (await file.read(bytes, length, MAX_BYTES - length)).bytesRead;
  }
  return bytes.toString('utf8', 0, length);
}
