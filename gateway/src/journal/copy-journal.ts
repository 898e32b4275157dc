import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMAT, type Owner, readOwner } from './instance-directory.ts';
import { decodeLines } from './record-line.ts';
import { type Creditor, isNotFound, parseSegmentName, Segment, type SegmentParts } from './segment.ts';

/**
 * Copies the journal's records for a backup, while gateways go on writing and shipping. It looks several times, and
 * keeps everything it has seen: a segment that is deleted after a look has been paid to both stores, and one that grows
 * is read again at the next.
 *
 * Every copy is a sealed segment that still owes what it owed when it was first seen. More than it owes now is
 * harmless: the ledger counts a request once by its id, and whoever adopts a sealed segment asks telemetry which of its
 * rows are there. Less would lose them. The copies lie in the directory of an instance that says it is done, so the
 * first gateway to start takes them over.
 */

/** Takes the content of a file into the backup, by its path in the journal's directory. */
export type WriteFile = (path: string, content: string | Uint8Array) => Promise<void>;

const INSTANCE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
// A file that is renamed while it is looked for has been paid to one store or taken over; both happen once.
const MOST_ROUNDS = 1_000;

interface Copied {
  readonly parts: SegmentParts;
  readonly owes: readonly Creditor[];
}

export class JournalCopy {
  readonly #root: string;
  readonly #write: WriteFile;
  readonly #instance = randomUUID();
  readonly #sealed = new Map<string, Copied>();
  /** Those that may still grow, with what they held at the last look. */
  readonly #open = new Map<string, Copied & { readonly content: Buffer }>();

  constructor(root: string, write: WriteFile) {
    this.#root = root;
    this.#write = write;
  }

  /**
   * Looks at all segments. What is seen for the first time owes what its name says, or, where the moment of the stores'
   * copies may have passed before it was paid to one of them, everything.
   */
  async look({ owesAll }: { readonly owesAll: boolean }): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      if (await this.#lookOnce(owesAll)) return;
    }
    throw new Error('the journal moves too fast to be copied');
  }

  /** Writes what is left to write, and says how much there is. */
  async finish(): Promise<{ readonly segments: number; readonly records: number }> {
    for (const [key, { content, ...copied }] of this.#open) await this.#keep(key, copied, content);
    this.#open.clear();
    const rejected = join(this.#root, 'rejected');
    for (const name of await readdir(rejected).catch(() => [])) {
      if (!name.endsWith('.new')) await this.#write(`rejected/${name}`, await readFile(join(rejected, name)));
    }
    const copies = [...this.#sealed.values()];
    if (copies.length > 0) {
      const owner: Owner = { pid: 0, startedAt: '', world: '', format: FORMAT, isReleased: true };
      await this.#write(`${this.#instance}/owner`, JSON.stringify(owner));
    }
    return {
      segments: copies.length,
      records: copies.reduce((sum, { parts }) => sum + parts.records, 0),
    };
  }

  /** False when a file went away under our eyes: it is elsewhere, or paid, and another look tells. */
  async #lookOnce(owesAll: boolean): Promise<boolean> {
    let isComplete = true;
    for (const instance of await readdir(this.#root).catch(emptyIfMissing)) {
      if (!INSTANCE.test(instance)) continue;
      const directory = join(this.#root, instance);
      const owner = await readOwner(directory);
      if (owner && owner.format !== FORMAT)
        throw new Error(`${directory} was written by another version of the gateway`);
      for (const name of await readdir(directory).catch(emptyIfMissing)) {
        const parts = parseSegmentName(directory, name);
        if (parts && !(await this.#see(parts, join(directory, name), owesAll))) isComplete = false;
      }
    }
    return isComplete;
  }

  async #see(parts: SegmentParts, path: string, owesAll: boolean): Promise<boolean> {
    const key = `${parts.origin}.${parts.sequence}`;
    if (this.#sealed.has(key)) return true;
    const bytes = await readFile(path).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!bytes) return false;
    const owes =
      this.#open.get(key)?.owes ?? (owesAll ? (['ledger', 'telemetry'] as const) : [...parts.owes]);
    if (parts.isOpen) {
      const { requests, intactBytes } = await decodeLines(bytes);
      const content = bytes.subarray(0, intactBytes);
      this.#open.set(key, {
        parts: { ...parts, records: requests.length, length: intactBytes },
        owes,
        content,
      });
    } else {
      this.#open.delete(key);
      await this.#keep(key, { parts, owes }, bytes.subarray(0, parts.length));
    }
    return true;
  }

  async #keep(key: string, { parts, owes }: Copied, content: Buffer): Promise<void> {
    if (parts.length === 0 || owes.length === 0) return;
    const copy = new Segment({ ...parts, isOpen: false, owes });
    await this.#write(`${this.#instance}/${copy.fileName}`, content);
    this.#sealed.set(key, { parts, owes });
  }
}

function emptyIfMissing(error: unknown): string[] {
  if (isNotFound(error)) return [];
  throw error;
}
