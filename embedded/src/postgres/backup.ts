import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@gatehouse/concurrency';
import type pg from 'pg';
import type { BackupSink } from '../backup-sink.ts';
import { errorCode } from './errors.ts';

/*
 * A base backup of a running cluster, by PostgreSQL's own protocol. Between pg_backup_start and pg_backup_stop the files
 * are copied as they are, including torn pages. The write-ahead log from the first call to the second is copied too;
 * PostgreSQL replays it when the copy is started, which makes the copy consistent as of the second call.
 *
 * Nothing keeps the server from recycling log that the backup still needs: the embedded server has no archive and no
 * replication slots. So log segments are copied while the files are. A segment that is recycled before it is copied fails
 * the backup with a message; that takes two checkpoints within a fraction of a second.
 */

/** The cluster cannot be backed up now. The message is for the operator. */
export class ClusterBackupError extends Error {
  override readonly name = 'ClusterBackupError';
}

export interface ClusterSnapshot {
  /** `18.1` */
  readonly version: string;
  readonly startLsn: string;
  /** The copy has every commit before this position of the log, and none after it. */
  readonly stopLsn: string;
}

// Useless in a copy: the server makes them at each start, or they belong to another server.
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts', 'server.log', 'server.log.1', 'socket']);
const NOT_COPIED_ANYWHERE = /^pgsql_tmp|^pg_internal\.init|\.tmp$/;
/** Directories that must exist and whose content is not part of the data. */
const ONLY_AS_DIRECTORIES = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const CONTROL_FILE = 'global/pg_control';
const SEGMENT = /^[0-9A-F]{24}$/;
const LOG_POLL_MS = 100;

/** A running backup. Disposing an unfinished one cancels it and leaves nothing in the server. */
export class ClusterBackup implements AsyncDisposable {
  readonly #client: pg.Client;
  readonly #sink: BackupSink;
  readonly #folder: string;
  readonly #cluster: string;
  readonly #startLsn: string;
  readonly #segmentBytes: number;
  #nextSegment: string;

  private constructor(
    client: pg.Client,
    sink: BackupSink,
    folder: string,
    start: { cluster: string; lsn: string; segment: string; segmentBytes: number },
  ) {
    this.#client = client;
    this.#sink = sink;
    this.#folder = folder;
    this.#cluster = start.cluster;
    this.#startLsn = start.lsn;
    this.#segmentBytes = start.segmentBytes;
    this.#nextSegment = start.segment;
  }

  /** Starts on a connection of its own, as the superuser; the connection is closed with the backup. */
  static async begin(client: pg.Client, sink: BackupSink, folder: string): Promise<ClusterBackup> {
    const { rows } = await client.query<{ cluster: string; lsn: string; segment: string; bytes: string }>(
      `SELECT current_setting('data_directory') AS cluster, lsn::text, pg_walfile_name(lsn) AS segment,
              pg_size_bytes(current_setting('wal_segment_size'))::text AS bytes
       FROM pg_backup_start('gatehouse backup', fast => true) AS lsn`,
    );
    const [row] = rows;
    if (!row) throw new Error('pg_backup_start returned no row');
    return new ClusterBackup(client, sink, folder, { ...row, segmentBytes: Number(row.bytes) });
  }

  /** Copies all files. There is no time limit. */
  async copyFiles(): Promise<void> {
    const done = new AbortController();
    const log = this.#followLog(done.signal);
    try {
      // If one fails, both end.
      await Promise.race([this.#copyDirectory(''), log.then(() => new Promise<never>(() => undefined))]);
    } finally {
      done.abort();
      await log.catch(() => undefined);
    }
    await log;
  }

  /** Ends the backup now and copies the rest of the log. */
  async finish(): Promise<ClusterSnapshot> {
    const { rows } = await this.#client.query<{
      lsn: string;
      segment: string;
      label: string;
      tablespaces: string;
      version: string;
    }>(
      `SELECT lsn::text, pg_walfile_name(lsn) AS segment, labelfile AS label, spcmapfile AS tablespaces,
              current_setting('server_version') AS version
       FROM pg_backup_stop(wait_for_archive => false)`,
    );
    const [row] = rows;
    if (!row) throw new Error('pg_backup_stop returned no row');
    if (row.tablespaces.trim() !== '') {
      throw new ClusterBackupError(
        'the database has tablespaces outside its directory, which a backup does not include',
      );
    }
    await this.#copySegmentsBefore(this.#after(row.segment));
    for (const name of await readdir(join(this.#cluster, 'pg_wal'))) {
      if (name.endsWith('.history')) await this.#copyFile(`pg_wal/${name}`);
    }
    await this.#sink.write(`${this.#folder}/backup_label`, row.label);
    return { version: row.version, startLsn: this.#startLsn, stopLsn: row.lsn };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The server cancels a backup whose connection ends.
    await this.#client.end();
  }

  async #copyDirectory(path: string): Promise<void> {
    const entries = await readdir(join(this.#cluster, path), { withFileTypes: true }).catch(
      (error: unknown) => {
        // A database that was dropped meanwhile. The drop is in the log.
        if (errorCode(error) === 'ENOENT' && path !== '') return [];
        throw error;
      },
    );
    await this.#sink.directory(path === '' ? this.#folder : `${this.#folder}/${path}`);
    for (const entry of entries) {
      const inside = path === '' ? entry.name : `${path}/${entry.name}`;
      if (NOT_COPIED_ANYWHERE.test(entry.name) || NOT_COPIED.has(inside)) continue;
      if (ONLY_AS_DIRECTORIES.has(inside)) await this.#sink.directory(`${this.#folder}/${inside}`);
      else if (entry.isDirectory()) await this.#copyDirectory(inside);
      else if (inside === CONTROL_FILE) await this.#copyControlFile();
      else if (entry.isFile()) await this.#copyFile(inside);
    }
  }

  /** A file that was deleted meanwhile is missing; the deletion is in the log. */
  async #copyFile(path: string): Promise<boolean> {
    return this.#sink.copy(join(this.#cluster, path), `${this.#folder}/${path}`);
  }

  /** The log does not repair this file. It is written in one piece, so two equal reads have seen all of it. */
  async #copyControlFile(): Promise<void> {
    const path = join(this.#cluster, CONTROL_FILE);
    let content = await readFile(path);
    for (let again = await readFile(path); !again.equals(content); again = await readFile(path))
      content = again;
    await this.#sink.write(`${this.#folder}/${CONTROL_FILE}`, content);
  }

  async #followLog(done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      const { rows } = await this.#client.query<{ segment: string }>(
        'SELECT pg_walfile_name(pg_current_wal_lsn()) AS segment',
      );
      await this.#copySegmentsBefore(rows[0]?.segment ?? '');
      await systemClock.sleep(LOG_POLL_MS, done);
    }
  }

  async #copySegmentsBefore(end: string): Promise<void> {
    if (!SEGMENT.test(end)) throw new Error(`${JSON.stringify(end)} is not the name of a segment`);
    for (; this.#nextSegment < end; this.#nextSegment = this.#after(this.#nextSegment)) {
      const path = `pg_wal/${this.#nextSegment}`;
      const before = await inode(join(this.#cluster, path));
      const isCopied = await this.#copyFile(path);
      // A recycled segment is renamed and then overwritten: one that still has its name is intact.
      if (isCopied && before === (await inode(join(this.#cluster, path)))) continue;
      throw new ClusterBackupError(
        `PostgreSQL removed a part of its log (${this.#nextSegment}) before it was copied, because writes are very frequent; try again`,
      );
    }
  }

  /** The name of the next segment: the timeline, then the number in two halves of 8 digits. */
  #after(segment: string): string {
    const perFile = 0x1_0000_0000 / this.#segmentBytes;
    const number =
      Number.parseInt(segment.slice(8, 16), 16) * perFile + Number.parseInt(segment.slice(16), 16);
    const half = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
    return segment.slice(0, 8) + half(Math.floor((number + 1) / perFile)) + half((number + 1) % perFile);
  }
}

async function inode(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  );
}
