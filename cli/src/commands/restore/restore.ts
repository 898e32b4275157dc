import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { KeyId } from '@gatehouse/contract';
import { revokeKeysAgain } from '@gatehouse/control-plane/keys';
import { chownCommand, openEmbeddedClickHouse, restoreTelemetry } from '@gatehouse/embedded';
import { DEFAULT_TELEMETRY_DATABASE, migratePostgres } from '@gatehouse/store';
import { openPostgresServer } from '../../stores/postgres.ts';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { unlessInterrupted } from '../../terminal/interruption.ts';
import { print, warn } from '../../terminal/output.ts';
import { createProgress } from '../../terminal/progress.ts';
import { requireEmbeddedStores } from '../backup/embedded-only.ts';
import { type Manifest, readManifest, requestLogRows, verifyFiles } from '../backup/manifest.ts';
import { readRevokedKeys } from '../backup/revoked-keys-file.ts';
import { operator } from '../operator.ts';
import { RestoreDirectory } from './restore-directory.ts';
import { problems, type Verification, verifyDatabase } from './verify.ts';

// The command is given on this machine.
const TELEMETRY_TIMEOUT_MS = 60_000;

interface Arguments {
  readonly dir: string;
  readonly 'revoked-keys': string | undefined;
}

export async function restoreBackup(args: Arguments, context: Context): Promise<number> {
  const backup = resolve(args.dir);
  const dataDir = resolve(requireEmbeddedStores(context.environment(), 'restore').dataDir);
  const file = args['revoked-keys'];
  const keyIds = file === undefined ? undefined : await readRevokedKeys(file);
  const manifest = await readManifest(backup);
  return unlessInterrupted(async (interrupted) => {
    using progress = createProgress(context);
    await using place = await RestoreDirectory.create(dataDir);
    progress.step('Checking the backup');
    const checking = verifyFiles(backup, manifest, (bytes, of) => progress.at(bytes, of));
    await Promise.race([checking, interrupted]);
    progress.step('Copying PostgreSQL');
    await Promise.race([place.fill(backup, manifest), interrupted]);
    progress.step('Starting PostgreSQL on the copy, and verifying it');
    const { verification, revoked } = await restorePostgres(place.directory, keyIds, context, interrupted);
    progress.step('Copying the request log');
    await restoreRequestLog(place.directory, backup, manifest, interrupted);
    await place.publish();
    progress[Symbol.dispose]();
    const code = report({ backup, dataDir, manifest, verification, revoked, keyIds }, context);
    const owner = await stat(dataDir);
    if (process.geteuid?.() === 0 && owner.uid !== 0)
      warn(context, `what was restored is root's; before its owner starts: ${chownCommand(dataDir, owner)}`);
    return code;
  });
}

/** Starts PostgreSQL on the copy, which replays its log; migrates it, revokes keys again and verifies it. */
async function restorePostgres(
  directory: string,
  keyIds: readonly KeyId[] | undefined,
  context: Context,
  interrupted: Promise<never>,
): Promise<{ readonly verification: Verification; readonly revoked: readonly string[] }> {
  const settings = { dataDir: directory, databaseUrl: undefined, databaseOwnerUrl: undefined };
  await using server = await openPostgresServer(settings, () => undefined);
  await using database = server.openOwner({ poolSize: 2, applicationName: 'gatehouse restore' });
  const work = async () => {
    await migratePostgres(database, { serviceMayLogIn: true });
    const revoked = await revokeKeysAgain(database, keyIds ?? [], operator);
    return { verification: await verifyDatabase(database, context.environment()), revoked };
  };
  return await Promise.race([work(), interrupted]);
}

async function restoreRequestLog(
  directory: string,
  backup: string,
  { clickhouse }: Manifest,
  interrupted: Promise<never>,
): Promise<void> {
  await using engine = await openEmbeddedClickHouse({
    dataDir: directory,
    readyTimeoutMs: TELEMETRY_TIMEOUT_MS,
  });
  if (engine.enginePid() === null) throw new CommandError('the embedded ClickHouse engine did not start');
  const work = restoreTelemetry(engine, DEFAULT_TELEMETRY_DATABASE, join(backup, 'clickhouse'), clickhouse);
  await Promise.race([work, interrupted]);
}

interface Restored {
  readonly backup: string;
  readonly dataDir: string;
  readonly manifest: Manifest;
  readonly verification: Verification;
  readonly revoked: readonly string[];
  readonly keyIds: readonly KeyId[] | undefined;
}

function report(restored: Restored, context: Context): number {
  const { backup, dataDir, manifest, verification, revoked, keyIds } = restored;
  const { activity, ledger, vault } = verification;
  const wrong = problems(verification);
  const warning = revocationWarning(restored);
  print(
    context,
    {
      backup,
      data_dir: dataDir,
      as_of: manifest.made_at,
      activity: { verified: activity.broken.length === 0, ...activity },
      ledger: { verified: ledger.wrong.length === 0, ...ledger },
      vault,
      request_log_rows: requestLogRows(manifest),
      journal_records: manifest.journal.records,
      revoked_again: keyIds === undefined ? null : revoked,
      warning,
    },
    [
      `${dataDir} is as it was at ${manifest.made_at}.`,
      `Activity log: ${activity.broken.length === 0 ? 'verified' : 'BROKEN'}, ${activity.entries} entries of ${activity.logs} organisations.`,
      `Ledger: ${ledger.wrong.length === 0 ? 'verified' : 'WRONG'}, ${ledger.settlements} settlements.`,
      `Vault: ${vaultInWords(verification)}.`,
      `Request log: ${requestLogRows(manifest)} rows; ${manifest.journal.records} requests reach the stores at the first start.`,
      '',
      warning,
    ],
  );
  for (const sentence of wrong) warn(context, sentence);
  return wrong.length === 0 ? 0 : 1;
}

function vaultInWords({ vault }: Verification): string {
  return vault.state === 'verified' ? `verified, ${vault.records} records` : `${vault.state} (${vault.why})`;
}

function revocationWarning({ manifest, revoked, keyIds }: Restored): string {
  const since = manifest.made_at;
  if (keyIds === undefined) {
    return `WARNING: every key that was revoked after ${since} is VALID AGAIN, and so is every account that was deactivated since, every password that was changed and every member that was removed. A backup cannot know them. Before you start the service, revoke those keys again: restore with --revoked-keys, or start it where no caller reaches it.`;
  }
  const again =
    revoked.length === 0 ? 'no key had to be revoked again' : `revoked again: ${revoked.join(', ')}`;
  return `WARNING: by the file of revoked keys, ${again}. Keys that were revoked after that file was written are VALID AGAIN, and so is every account that was deactivated, and every password that was changed, after ${since}.`;
}
