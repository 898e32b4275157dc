import { type Examination, examineLedger, type Finding } from '@gatehouse/control-plane/ledger';
import { differingRights } from '@gatehouse/store';
import type { Context } from '../command.ts';
import { withDatabase } from '../database.ts';
import { print, warn } from '../output.ts';

export function examine(context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const ledger = await examineLedger(database);
    const rights = (await differingRights(database)).map(
      (difference): Finding => ({
        check: 'schema_rights',
        organizationId: null,
        keyId: null,
        sentence: `${difference}; gatehouse migrate restores it`,
      }),
    );
    const examination = { ...ledger, findings: [...ledger.findings, ...rights] };
    const { findings } = examination;
    for (const { sentence } of findings) warn(context, sentence);
    print(context, examinationDocument(examination), [
      `${counts(examination)}; schema step ${examination.schemaStep}`,
      findings.length === 0
        ? 'Every sum matches its rows.'
        : `Found ${findings.length === 1 ? '1 thing' : `${findings.length} things`} that should not be so.`,
    ]);
    return findings.length === 0 ? 0 : 1;
  });
}

function counts({ organizations, keys, settlements, folded, holds }: Examination): string {
  const counted = (count: bigint, one: string) => `${count} ${one}${count === 1n ? '' : 's'}`;
  return [
    counted(organizations, 'organisation'),
    counted(keys, 'key'),
    `${counted(settlements, 'settlement')}${folded > 0n ? ` and ${folded} folded` : ''}`,
    counted(holds, 'hold'),
  ].join(', ');
}

function examinationDocument(examination: Examination) {
  return {
    healthy: examination.findings.length === 0,
    schema_step: examination.schemaStep,
    organizations: Number(examination.organizations),
    keys: Number(examination.keys),
    settlements: Number(examination.settlements),
    folded_settlements: Number(examination.folded),
    holds: Number(examination.holds),
    findings: examination.findings.map(({ check, organizationId, keyId, sentence }) => ({
      check,
      organization_id: organizationId,
      key_id: keyId,
      sentence,
    })),
  };
}
