import { access, constants, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import {
  FORMAT,
  INSTANCE,
  type InstanceDirectory,
  type Processes,
  readOwner,
  readPulse,
  removeIfEmpty,
} from './instance-directory.ts';
import type { JournalClock } from './journal.ts';
import { decodeLines } from './record-line.ts';
import { isNotFound, parseSegmentName, Segment, type SegmentName } from './segment.ts';

/**
 * Recovers the segments of dead instances. Each file is claimed by one rename into the directory of the recovering
 * instance: of two that try, exactly one succeeds, and one that dies half-way leaves every file in one directory or the
 * other, where the next one finds it. A file keeps its name, and so its token, wherever it goes.
 *
 * An instance is dead when it has released its directory, or when its process provably no longer exists. Where that
 * cannot be known (another container on the same volume, no readable owner file), it is dead once this process has seen
 * no sign of life from it for the length of a lease, by its own monotonic clock.
 */
export interface SegmentRecoveryOptions {
  readonly root: string;
  readonly instance: InstanceDirectory;
  readonly backlog: Backlog;
  readonly processes: Processes;
  readonly clock: JournalClock;
  readonly log: Logger;
  readonly leaseMs: number;
}

export class SegmentRecovery {
  readonly #options: SegmentRecoveryOptions;
  readonly #watched = new Map<string, { pulse: string; sinceMs: number }>();
  /** Directories and segments that cannot be recovered. Each is logged once, until it can be. */
  #unreadable = new Set<string>();

  constructor(options: SegmentRecoveryOptions) {
    this.#options = options;
  }

  /** How many directories and segments could not be read when it last looked. */
  get unreadable(): number {
    return this.#unreadable.size;
  }

  /** Looks at every other instance once, and recovers the segments of the dead ones. */
  async recover(): Promise<void> {
    const { root, instance } = this.#options;
    const unreadable = new Set<string>();
    for (const name of await readdir(root)) {
      if (!INSTANCE.test(name) || name === instance.id) continue;
      const directory = join(root, name);
      try {
        if (await this.#isDead(directory, unreadable)) await this.#recoverFrom(directory, unreadable);
      } catch (error) {
        this.#failed(directory, error, unreadable);
      }
    }
    this.#unreadable = unreadable;
  }

  #failed(path: string, error: unknown, unreadable: Set<string>): void {
    // Another process was first.
    if (isNotFound(error)) return;
    unreadable.add(path);
    if (this.#unreadable.has(path)) return;
    this.#options.log.error(
      { event: 'journal.recovery_failed', err: error, path },
      'journal of a dead process cannot be recovered; its requests are not settled',
    );
  }

  async #isDead(directory: string, unreadable: Set<string>): Promise<boolean> {
    const { processes, log } = this.#options;
    const owner = await readOwner(directory);
    if (owner && owner.format !== FORMAT) {
      if (!this.#unreadable.has(directory)) {
        log.warn(
          { event: 'journal.unknown_format', directory, format: owner.format },
          'journal has an unknown format; start the version that wrote it to ship its records',
        );
      }
      unreadable.add(directory);
      return false;
    }
    if (owner?.isReleased) return true;
    const state = owner ? processes.stateOf(owner) : 'unknown';
    if (state === 'unknown') return this.#isLeaseOver(directory);
    this.#watched.delete(directory);
    return state === 'dead';
  }

  async #isLeaseOver(directory: string): Promise<boolean> {
    const { clock, leaseMs } = this.#options;
    const pulse = await readPulse(directory);
    const watched = this.#watched.get(directory);
    if (watched?.pulse === pulse) return clock.monotonicMs() - watched.sinceMs >= leaseMs;
    this.#watched.set(directory, { pulse, sinceMs: clock.monotonicMs() });
    return false;
  }

  async #recoverFrom(directory: string, unreadable: Set<string>): Promise<void> {
    const { backlog, log } = this.#options;
    let segments = 0;
    let records = 0;
    for (const { fileName, name } of await listSegments(directory)) {
      const path = join(directory, fileName);
      const segment = await this.#claim(path, name).catch((error: unknown) =>
        this.#failed(path, error, unreadable),
      );
      if (!segment) continue;
      backlog.add(segment);
      segments += 1;
      records += segment.records;
    }
    await removeIfEmpty(directory);
    this.#watched.delete(directory);
    if (segments > 0)
      log.info(
        { event: 'journal.segments_recovered', directory, segments, records },
        'recovered journal segments of a dead process',
      );
  }

  async #claim(path: string, found: SegmentName): Promise<Segment | undefined> {
    const { instance, log } = this.#options;
    // A segment that cannot be read would hold up all others of this process.
    await access(path, constants.R_OK);
    // Where the file system does not know when a file was made, this is when it was written last.
    const { birthtimeMs, mtimeMs } = await stat(path);
    const sinceMs = Math.min(birthtimeMs || mtimeMs, mtimeMs);
    let name: SegmentName = { ...found, directory: instance.path, isOpen: false, sinceMs };
    if (found.isOpen) {
      const bytes = await readFile(path);
      const { requests, intactBytes } = await decodeLines(bytes);
      name = { ...name, records: requests.length, length: intactBytes };
      if (intactBytes < bytes.length) {
        log.warn(
          { event: 'journal.tail_truncated', path, bytes: bytes.length - intactBytes },
          'truncated the incomplete end of a journal segment',
        );
      }
    }
    const segment = new Segment(name);
    segment.wasSent = !found.isOpen;
    if (segment.length === 0 || segment.pendingSinks.size === 0) {
      await unlink(path);
      return undefined;
    }
    await rename(path, segment.path);
    return segment;
  }
}

async function listSegments(directory: string): Promise<{ fileName: string; name: SegmentName }[]> {
  const found = (await readdir(directory)).flatMap((fileName) => {
    const name = parseSegmentName(directory, fileName);
    return name ? [{ fileName, name }] : [];
  });
  return found.sort((a, b) => a.name.sequence - b.name.sequence);
}
