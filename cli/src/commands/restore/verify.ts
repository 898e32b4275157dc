import { verifyActivity } from '@gatehouse/control-plane/activity';
import { examineLedger } from '@gatehouse/control-plane/ledger';
import { examineVault, findVaultKeyId } from '@gatehouse/control-plane/vault';
import { type Database, fixedKeyRing } from '@gatehouse/store';
import { readVaultConfig } from '../../config/vault-config.ts';
import type { Environment } from '../../terminal/command.ts';
import { shown } from '../../terminal/output.ts';
import { readMasterKeys } from '../../vault/master-key-sources.ts';

/** The result of verifying a restored database. */
export interface Verification {
  readonly activity: { readonly logs: number; readonly entries: number; readonly broken: readonly string[] };
  readonly ledger: { readonly settlements: number; readonly wrong: readonly string[] };
  readonly vault: VaultVerification;
}

export type VaultVerification =
  | { readonly state: 'never opened' | 'not verified'; readonly why: string }
  | { readonly state: 'verified'; readonly records: number }
  | { readonly state: 'does not open'; readonly why: string };

export async function verifyDatabase(database: Database, environment: Environment): Promise<Verification> {
  return {
    activity: await verifyLogs(database),
    ledger: await verifyLedger(database),
    vault: await verifyVault(database, environment),
  };
}

/** One sentence for each problem. */
export function problems({ activity, ledger, vault }: Verification): string[] {
  return [
    ...activity.broken,
    ...ledger.wrong,
    ...(vault.state === 'does not open' ? [`the vault does not open: ${vault.why}`] : []),
  ];
}

async function verifyLogs(database: Database): Promise<Verification['activity']> {
  let logs = 0;
  let entries = 0;
  const broken: string[] = [];
  for await (const log of verifyActivity(database)) {
    logs += 1;
    entries += log.entries;
    if (log.broken === null) continue;
    const named = `${shown(log.organizationName ?? 'an organisation that is gone')} (${log.organizationId})`;
    broken.push(`the activity log of ${named} is broken: entry ${log.broken.sequence} ${log.broken.reason}`);
  }
  return { logs, entries, broken };
}

// Time has passed since the backup, so holds are overdue and weeks lack a partition. The first start of the service
// handles both, and neither affects the sums.
const EXPECTED = new Set(['overdue_holds', 'partitions']);

async function verifyLedger(database: Database): Promise<Verification['ledger']> {
  const { settlements, folded, findings } = await examineLedger(database);
  return {
    settlements: Number(settlements + folded),
    wrong: findings.filter(({ check }) => !EXPECTED.has(check)).map(({ sentence }) => sentence),
  };
}

async function verifyVault(database: Database, environment: Environment): Promise<VaultVerification> {
  const needed = await findVaultKeyId(database);
  if (needed === undefined) return { state: 'never opened', why: 'nothing was ever stored in it' };
  const { current, next } = await readMasterKeys(readVaultConfig(environment), environment);
  const keys = [current, next].filter((key) => key !== undefined);
  if (keys.length === 0) {
    return {
      state: 'not verified',
      why: `no master key was given: put the one with the id ${needed} into DATA_DIR/master.key, or where GATEHOUSE_MASTER_KEY_FILE says`,
    };
  }
  const { records, unreadable } = await examineVault(database, fixedKeyRing(keys));
  if (!keys.some((key) => key.id === needed)) {
    return {
      state: 'does not open',
      why: `it needs the master key with the id ${needed}, and given is the one with the id ${keys[0]?.id}`,
    };
  }
  const [first] = unreadable;
  if (!first) return { state: 'verified', records };
  return {
    state: 'does not open',
    why: `${unreadable.length} of ${records} records stay shut, the first that of the organisation ${first.organizationId} for ${first.provider}: ${first.reason}`,
  };
}
