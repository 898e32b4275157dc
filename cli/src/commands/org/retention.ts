import {
  DEFAULT_RETENTION_DAYS,
  MAX_RETENTION_DAYS,
  setRetention,
} from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { invalidValue } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';

export async function setOrgRetention(
  args: { readonly org: string; readonly days: string },
  context: Context,
): Promise<number> {
  const days = readDays(args.days);
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    await change('gatehouse org show', () => setRetention(database, organization.id, days));
    print(context, { organization, ...retentionDocument(days) }, [
      `The activity log of ${shown(organization.name)} is kept for ${retentionInWords(days ?? DEFAULT_RETENTION_DAYS)}.`,
    ]);
    return 0;
  });
}

/** Null: back to the time for all. */
function readDays(text: string): number | null {
  if (text === 'default') return null;
  const days = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_RETENTION_DAYS) return days;
  throw invalidValue(
    '--days',
    text,
    `a whole number from 1 to ${MAX_RETENTION_DAYS}, or default for ${DEFAULT_RETENTION_DAYS}`,
  );
}

export function retentionInWords(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}

/** How long a log is kept, as JSON shows it. */
export function retentionDocument(days: number | null) {
  return {
    activity_retention_days: days ?? DEFAULT_RETENTION_DAYS,
    activity_retention_is_default: days === null,
  };
}
