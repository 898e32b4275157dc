import { pkrInWords, pkrNumber } from '@gatehouse/contract';
import {
  DEFAULT_RETENTION_DAYS,
  type OrganizationOverview,
  showOrganization,
} from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { requireOrganization, withDatabase } from '../database.ts';
import { retentionDocument, retentionInWords } from './retention.ts';
import { availableMicroPkr, summaryDocument } from './summary.ts';

export function showOrg(reference: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const { id } = await requireOrganization(database, reference);
    const overview = await showOrganization(database, id);
    if (!overview) throw new Error(`the organisation ${id} has no balance`);
    print(context, { organization: overviewDocument(overview) }, overviewLines(overview));
    return 0;
  });
}

function overviewDocument(overview: OrganizationOverview) {
  return {
    ...summaryDocument(overview),
    keys: overview.keys,
    ...retentionDocument(overview.retentionDays),
    projects: overview.projects.map(({ id, name, createdAt, byokFallback }) => ({
      ...{ id, name, created_at: createdAt, byok_fallback: byokFallback },
    })),
    deposit_count: overview.depositCount,
    newest_deposits: overview.deposits.map((one) => ({
      id: one.id,
      amount_pkr: pkrNumber(one.amountMicroPkr),
      note: one.note,
      created_at: one.createdAt,
    })),
  };
}

function overviewLines(overview: OrganizationOverview): string[] {
  const unseen = overview.depositCount - overview.deposits.length;
  return [
    ...columns([
      ['Organisation', shown(overview.name)],
      ['Id', overview.id],
      ['Created', `${minute(overview.createdAt)} UTC`],
      ['Members', String(overview.members)],
      ['Keys', String(overview.keys)],
      ['Deposited', pkrInWords(overview.depositedMicroPkr)],
      ['Spent', pkrInWords(overview.spentMicroPkr)],
      ['Held', pkrInWords(overview.heldMicroPkr)],
      ['Available', pkrInWords(availableMicroPkr(overview))],
      ['Activity log', `kept for ${retentionInWords(overview.retentionDays ?? DEFAULT_RETENTION_DAYS)}`],
    ]),
    '',
    'Projects',
    ...columns(
      overview.projects.map(({ id, name, byokFallback }) => [
        ...['', id, shown(name), byokFallback ? "own keys, then the platform's" : ''],
      ]),
    ),
    '',
    overview.depositCount === 0 ? 'No deposits' : 'Deposits and withdrawals, newest first (UTC)',
    ...columns(
      overview.deposits.map(({ createdAt, amountMicroPkr, note }) => [
        '',
        minute(createdAt),
        pkrInWords(amountMicroPkr),
        shown(note ?? ''),
      ]),
    ),
    ...(unseen > 0 ? [`  and ${unseen} older`] : []),
  ];
}
