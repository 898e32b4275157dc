import { join } from 'node:path';
import { type Examination, examineLedger } from '@gatehouse/control-plane/ledger';
import { listUnreadableJournals } from '@gatehouse/gateway/journal';
import { type Database, differingRights } from '@gatehouse/store';
import type { Context } from '../../terminal/command.ts';
import { counted, print, warn } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';

export function examine(context: Context): Promise<number> {
  return withDatabase(context, async (database, { dataDir }) => {
    const examination = await examineLedger(database);
    const rights = await rightsFindings(database);
    const findings = [...examination.findings, ...rights, ...(await journalFindings(dataDir))];
    for (const { sentence } of findings) warn(context, sentence);
    print(context, examinationDocument(examination, findings), [
      `${counts(examination)}; schema step ${examination.schemaStep}`,
      findings.length === 0
        ? 'Every sum matches its rows.'
        : `Found ${findings.length === 1 ? '1 thing' : `${findings.length} things`} that should not be so.`,
    ]);
    return findings.length === 0 ? 0 : 1;
  });
}

function counts({ organizations, keys, settlements, folded, holds }: Examination): string {
  return [
    counted(organizations, 'organisation'),
    counted(keys, 'key'),
    `${counted(settlements, 'settlement')}${folded > 0n ? ` and ${folded} folded` : ''}`,
    counted(holds, 'hold'),
  ].join(', ');
}

type Finding = Omit<Examination['findings'][number], 'check'> & { readonly check: string };

/** Tables and functions whose owner or rights are not those of the schema, as after a restore with other owners. */
async function rightsFindings(database: Database): Promise<Finding[]> {
  const differences = await differingRights(database);
  return differences.map((difference) => ({
    check: 'schema_rights',
    organizationId: null,
    keyId: null,
    sentence: `${difference}; gatehouse migrate restores it`,
  }));
}

/** Leftovers of a crashed process in the data directory that no gateway can settle. */
async function journalFindings(dataDir: string): Promise<Finding[]> {
  const found = await listUnreadableJournals(join(dataDir, 'journal'));
  return found.map(({ path, reason }) => ({
    check: 'journal',
    organizationId: null,
    keyId: null,
    sentence: `the journal ${path} cannot be read, so its requests are not settled: ${reason}`,
  }));
}

function examinationDocument(examination: Examination, findings: readonly Finding[]) {
  return {
    healthy: findings.length === 0,
    schema_step: examination.schemaStep,
    organizations: Number(examination.organizations),
    keys: Number(examination.keys),
    settlements: Number(examination.settlements),
    folded_settlements: Number(examination.folded),
    holds: Number(examination.holds),
    findings: findings.map(({ check, organizationId, keyId, sentence }) => ({
      check,
      organization_id: organizationId,
      key_id: keyId,
      sentence,
    })),
  };
}
