import { join, resolve } from 'node:path';
import {
  ClusterBackup,
  type ClusterSnapshot,
  type FrozenTelemetry,
  freezeTelemetry,
  openEmbeddedClickHouse,
} from '@gatehouse/embedded';
import { JournalCopy } from '@gatehouse/gateway/journal';
import { type Database, DEFAULT_TELEMETRY_DATABASE } from '@gatehouse/store';
import type { Context } from '../../terminal/command.ts';
import { CommandError, engineUnavailable, UsageError } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { createProgress, type Progress } from '../../terminal/progress.ts';
import { VERSION } from '../../terminal/version.ts';
import { withDatabase } from '../database.ts';
import { DraftBackup } from './draft.ts';
import { requireEmbeddedStores } from './embedded-only.ts';
import { FORMAT, type Manifest, requestLogRows } from './manifest.ts';
import { writeRevokedKeys } from './revoked-keys-file.ts';

/*
 * Three things are copied, each in its own way, and together they must be consistent: every request is settled in
 * PostgreSQL or pending in the journal, and is in the request log or pending in the journal.
 *
 * Most of the work needs no coordination: PostgreSQL's files and the journal's sealed segments are copied while the
 * service works. Then a lock on the ledger pauses settlement for the rest, which takes well below a second. A segment is
 * deleted only after it is settled, so during the pause the journal keeps everything that is not settled. In this order:
 * list the journal, freeze the request log, list the journal again, end PostgreSQL's backup; then settlement continues.
 * docs/decisions/0020 explains why nothing is lost or duplicated.
 */

const BACKUP_LOCK = 'SELECT pg_try_advisory_lock(7215534120) AS taken';
const LOCK_TIMEOUT_MS = 10_000;
const TELEMETRY_TIMEOUT_MS = 20_000;

interface Arguments {
  readonly dir: string | undefined;
  readonly 'revoked-keys': string | undefined;
}

export async function makeBackup(args: Arguments, context: Context): Promise<number> {
  const { dir, 'revoked-keys': file } = args;
  if (dir === undefined && file === undefined)
    throw new UsageError('gatehouse backup needs DIR, or --revoked-keys FILE, or both', 'backup');
  const target = dir === undefined ? undefined : resolve(dir);
  const dataDir = target === undefined ? '' : requireEmbeddedStores(context.environment(), 'backup').dataDir;
  return withDatabase(context, async (database) => {
    // Before the backup: a key that is revoked in between is then revoked in the backup itself.
    const revoked = file === undefined ? undefined : await writeRevokedKeys(database, file);
    using progress = createProgress(context);
    const made =
      target === undefined ? undefined : await backUp(database, resolve(dataDir), target, progress);
    progress[Symbol.dispose]();
    print(
      context,
      {
        backup: made && target !== undefined ? { dir: target, ...made } : null,
        revoked_keys: revoked === undefined ? null : { file, keys: revoked },
      },
      [
        ...(revoked === undefined ? [] : [`${shown(file ?? '')} names ${keysInWords(revoked)}.`]),
        ...(made === undefined ? [] : backupLines(target ?? '', made)),
      ],
    );
    return 0;
  });
}

type Made = Omit<Manifest, 'directories' | 'files' | 'format'> & {
  readonly files: number;
  readonly bytes: number;
  readonly master_key_included: false;
};

async function backUp(
  database: Database,
  dataDir: string,
  target: string,
  progress: Progress,
): Promise<Made> {
  await using draft = await DraftBackup.create(target);
  await using clickhouse = await openEmbeddedClickHouse({ dataDir, readyTimeoutMs: TELEMETRY_TIMEOUT_MS });
  if (clickhouse.enginePid() === null) throw engineUnavailable();
  await using cluster = await beginExclusively(database, draft);
  const journal = new JournalCopy(join(dataDir, 'journal'), (path, content) =>
    draft.write(`journal/${path}`, content),
  );
  progress.step('Copying PostgreSQL');
  await cluster.copyFiles();
  progress.step('Taking a consistent snapshot of both stores');
  await journal.look({ allPending: false });

  const { frozen, madeAt, snapshot } = await whileSettlementIsPaused(database, async () => {
    await journal.look({ allPending: false });
    await using stack = new AsyncDisposableStack();
    const frozen = stack.use(await freezeTelemetry(clickhouse, DEFAULT_TELEMETRY_DATABASE));
    await journal.look({ allPending: true });
    const madeAt = await databaseTime(database);
    const snapshot = await cluster.finish();
    stack.move();
    return { frozen, madeAt, snapshot };
  });
  progress.step('Copying the request log');
  return await finish(draft, journal, frozen, { madeAt, snapshot });
}

async function finish(
  draft: DraftBackup,
  journal: JournalCopy,
  frozen: FrozenTelemetry,
  { madeAt, snapshot }: { readonly madeAt: string; readonly snapshot: ClusterSnapshot },
): Promise<Made> {
  await using _ = frozen;
  const clickhouse = await frozen.copyTo(draft, 'clickhouse');
  const about = {
    gatehouse: VERSION,
    made_at: madeAt,
    postgres: { version: snapshot.version, start_lsn: snapshot.startLsn, stop_lsn: snapshot.stopLsn },
    clickhouse: {
      version: clickhouse.version,
      schema: clickhouse.schema,
      tables: clickhouse.tables.map(({ name, rows, parts }) => ({ name, rows, parts: [...parts] })),
    },
    journal: await journal.finish(),
  };
  return { ...about, ...(await draft.publish({ format: FORMAT, ...about })), master_key_included: false };
}

/** Two backups at once would remove each other's frozen parts. */
async function beginExclusively(database: Database, draft: DraftBackup): Promise<ClusterBackup> {
  const client = await database.connect();
  try {
    const { rows } = await client.query<{ taken: boolean }>(BACKUP_LOCK);
    if (!rows[0]?.taken) throw new CommandError('another gatehouse backup is running; wait until it is done');
    return await ClusterBackup.begin(client, draft, 'postgres');
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function whileSettlementIsPaused<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const client = await database.connect();
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('LOCK TABLE settlements IN SHARE MODE');
    return await work();
  } finally {
    await client.end();
  }
}

async function databaseTime(database: Database): Promise<string> {
  const client = await database.connect();
  try {
    const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp() AS now');
    return rows[0]?.now ?? '';
  } finally {
    await client.end();
  }
}

function backupLines(target: string, made: Made): string[] {
  return [
    `${shown(target)} holds everything as of ${made.made_at}: ${made.files} files, ${Math.ceil(made.bytes / 1024 / 1024)} MiB; ${requestLogRows(made)} rows of the request log, and ${made.journal.records} requests pending in the journal.`,
    'The master key is not in it. Keep a copy of it elsewhere: without it the stored provider keys cannot be read.',
  ];
}

function keysInWords(count: number): string {
  return count === 1 ? '1 revoked key' : `${count} revoked keys`;
}
