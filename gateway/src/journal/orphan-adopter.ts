import { readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import { FORMAT, type InstanceDirectory, readOwner, readPulse, removeIfEmpty } from './instance-directory.ts';
import type { Processes } from './process-mark.ts';
import { decodeLines } from './record-line.ts';
import { isNotFound, parseSegmentName, Segment, type SegmentParts } from './segment.ts';
import type { Timing } from './timing.ts';

/**
 * Takes in what dead instances left behind. Each segment file is claimed by one rename into the adopter's own
 * directory: of two adopters exactly one succeeds, and an adopter that dies half-way leaves every file in one
 * directory or the other, to be adopted in its turn. A file keeps its name, so its token, wherever it goes.
 *
 * An owner is dead when it said that it is done, or when its process provably no longer exists. Where that
 * cannot be told (another container on the same volume, no readable owner file), it is dead once this process has
 * watched it show no sign of life for the length of a lease; the watch is by our own clock alone.
 */
export interface OrphanAdopterOptions {
  readonly root: string;
  readonly instance: InstanceDirectory;
  readonly backlog: Backlog;
  readonly processes: Processes;
  readonly timing: Timing;
  readonly log: Logger;
  readonly leaseMs: number;
}

const INSTANCE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export class OrphanAdopter {
  readonly #options: OrphanAdopterOptions;
  readonly #watched = new Map<string, { pulse: string; sinceMs: number }>();
  readonly #warned = new Set<string>();

  constructor(options: OrphanAdopterOptions) {
    this.#options = options;
  }

  /** Looks at every other instance once, and adopts what the dead ones left. */
  async adopt(): Promise<void> {
    const { root, instance, log } = this.#options;
    for (const name of await readdir(root)) {
      if (!INSTANCE.test(name) || name === instance.id) continue;
      const directory = join(root, name);
      try {
        if (await this.#isDead(directory)) await this.#takeOver(directory);
      } catch (error) {
        if (!isNotFound(error)) log.error({ err: error, directory }, 'a dead journal cannot be adopted yet');
      }
    }
  }

  async #isDead(directory: string): Promise<boolean> {
    const { processes, log } = this.#options;
    const owner = await readOwner(directory);
    if (owner && owner.format !== FORMAT) {
      if (!this.#warned.has(directory)) {
        log.warn(
          { directory, format: owner.format },
          'a journal of another version is left for that version',
        );
        this.#warned.add(directory);
      }
      return false;
    }
    if (owner?.isReleased) return true;
    const life = owner ? await processes.lifeOf(owner) : 'unknown';
    if (life === 'unknown') return this.#isLeaseOver(directory);
    this.#watched.delete(directory);
    return life === 'dead';
  }

  async #isLeaseOver(directory: string): Promise<boolean> {
    const { timing, leaseMs } = this.#options;
    const pulse = await readPulse(directory);
    const watched = this.#watched.get(directory);
    if (watched?.pulse === pulse) return timing.now() - watched.sinceMs >= leaseMs;
    this.#watched.set(directory, { pulse, sinceMs: timing.now() });
    return false;
  }

  async #takeOver(directory: string): Promise<void> {
    const { backlog, log } = this.#options;
    let segments = 0;
    let records = 0;
    for (const { fileName, parts } of await listSegments(directory)) {
      const adopted = await this.#claim(join(directory, fileName), parts);
      if (!adopted) continue;
      backlog.add(adopted);
      segments += 1;
      records += adopted.records;
    }
    await removeIfEmpty(directory);
    this.#watched.delete(directory);
    if (segments > 0) log.info({ directory, segments, records }, 'adopted the journal of a dead process');
  }

  async #claim(path: string, found: SegmentParts): Promise<Segment | undefined> {
    const { instance, log } = this.#options;
    try {
      let parts: SegmentParts = { ...found, directory: instance.path, isOpen: false };
      if (found.isOpen) {
        const bytes = await readFile(path);
        const { requests, intactBytes } = await decodeLines(bytes);
        parts = { ...parts, records: requests.length, length: intactBytes };
        if (intactBytes < bytes.length) {
          log.warn({ path, bytes: bytes.length - intactBytes }, 'dropped the torn end of a journal segment');
        }
      }
      const segment = new Segment(parts);
      segment.wasOffered = !found.isOpen;
      if (segment.length === 0 || segment.owes.size === 0) {
        await unlink(path);
        return undefined;
      }
      await rename(path, segment.path);
      return segment;
    } catch (error) {
      // Another adopter was first.
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

async function listSegments(directory: string): Promise<{ fileName: string; parts: SegmentParts }[]> {
  const found = (await readdir(directory)).flatMap((fileName) => {
    const parts = parseSegmentName(directory, fileName);
    return parts ? [{ fileName, parts }] : [];
  });
  return found.sort((a, b) => a.parts.sequence - b.parts.sequence);
}
