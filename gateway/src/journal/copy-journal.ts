import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEAD_LETTER_DIRECTORY } from './dead-letter.ts';
import { FORMAT, INSTANCE, ownerFileContent, RELEASED, readOwner } from './instance-directory.ts';
import { decodeLines } from './record-line.ts';
import { isNotFound, parseSegmentName, Segment, type SegmentName, type Sink } from './segment.ts';

/**
 * Copies the journal's records for a backup while gateways go on writing and shipping. It looks several times and keeps
 * everything it has seen: a segment that is deleted after a look is in both sinks, and one that grows is read again at
 * the next look.
 *
 * Every copy is a sealed segment with the sinks that were pending when it was first seen. More than are pending now does
 * no harm: the ledger counts a request once by its id, and a gateway that recovers a sealed segment asks telemetry which
 * of its rows are there. Fewer would lose rows. The copies are in the directory of an instance that is marked as
 * released, so the first gateway to start recovers them.
 */

/** Takes the content of a file into the backup, by its path in the journal's directory. */
export type WriteFile = (path: string, content: string | Uint8Array) => Promise<void>;

// A file that is renamed during a look was acknowledged by a sink or recovered; each happens once.
const MAX_ROUNDS = 1_000;

interface Copied {
  readonly name: SegmentName;
  readonly pendingSinks: readonly Sink[];
}

export class JournalCopy {
  readonly #root: string;
  readonly #write: WriteFile;
  readonly #instance = randomUUID();
  readonly #sealed = new Map<string, Copied>();
  /** Segments that may still grow, with their content at the last look. */
  readonly #open = new Map<string, Copied & { readonly content: Buffer }>();

  constructor(root: string, write: WriteFile) {
    this.#root = root;
    this.#write = write;
  }

  /**
   * Looks at all segments. One seen for the first time has the pending sinks of its name or, with `allPending`, both:
   * for when the copies of the stores may be older than an acknowledgement.
   */
  async look({ allPending }: { readonly allPending: boolean }): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (await this.#lookOnce(allPending)) return;
    }
    throw new Error('the journal changes too fast to be copied');
  }

  /** Writes the rest, and returns how much there is. */
  async finish(): Promise<{ readonly segments: number; readonly records: number }> {
    for (const [key, { content, ...copied }] of this.#open) await this.#keep(key, copied, content);
    this.#open.clear();
    const deadLetters = join(this.#root, DEAD_LETTER_DIRECTORY);
    for (const name of await readdir(deadLetters).catch(() => [])) {
      if (name.endsWith('.new')) continue;
      await this.#write(`${DEAD_LETTER_DIRECTORY}/${name}`, await readFile(join(deadLetters, name)));
    }
    const copies = [...this.#sealed.values()];
    if (copies.length > 0) {
      await this.#write(`${this.#instance}/owner`, ownerFileContent(RELEASED));
    }
    return {
      segments: copies.length,
      records: copies.reduce((sum, { name }) => sum + name.records, 0),
    };
  }

  /** False when a file disappeared during the look: it was renamed or deleted, and another look will tell. */
  async #lookOnce(allPending: boolean): Promise<boolean> {
    let isComplete = true;
    for (const instance of await readdir(this.#root).catch(emptyIfMissing)) {
      if (!INSTANCE.test(instance)) continue;
      const directory = join(this.#root, instance);
      const owner = await readOwner(directory);
      if (owner && owner.format !== FORMAT)
        throw new Error(`${directory} was written by another version of the gateway`);
      for (const fileName of await readdir(directory).catch(emptyIfMissing)) {
        const name = parseSegmentName(directory, fileName);
        if (name && !(await this.#see(name, join(directory, fileName), allPending))) isComplete = false;
      }
    }
    return isComplete;
  }

  async #see(name: SegmentName, path: string, allPending: boolean): Promise<boolean> {
    const key = `${name.origin}.${name.sequence}`;
    if (this.#sealed.has(key)) return true;
    const bytes = await readFile(path).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!bytes) return false;
    const pendingSinks =
      this.#open.get(key)?.pendingSinks ??
      (allPending ? (['ledger', 'telemetry'] as const) : [...name.pendingSinks]);
    if (name.isOpen) {
      const { requests, intactBytes } = await decodeLines(bytes);
      const content = bytes.subarray(0, intactBytes);
      this.#open.set(key, {
        name: { ...name, records: requests.length, length: intactBytes },
        pendingSinks,
        content,
      });
    } else {
      this.#open.delete(key);
      await this.#keep(key, { name, pendingSinks }, bytes.subarray(0, name.length));
    }
    return true;
  }

  async #keep(key: string, { name, pendingSinks }: Copied, content: Buffer): Promise<void> {
    if (name.length === 0 || pendingSinks.length === 0) return;
    const copy = new Segment({ ...name, isOpen: false, pendingSinks });
    await this.#write(`${this.#instance}/${copy.fileName}`, content);
    this.#sealed.set(key, { name, pendingSinks });
  }
}

function emptyIfMissing(error: unknown): string[] {
  if (isNotFound(error)) return [];
  throw error;
}
