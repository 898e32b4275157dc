import { pkrInWords } from '@gatehouse/contract';
import { listKeyOverviews } from '@gatehouse/control-plane/keys';
import type { Context } from '../../terminal/command.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { requireOrganization, withDatabase } from '../database.ts';
import { keyDocument } from './overview.ts';

export function listOrgKeys(reference: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, reference);
    const keys = await listKeyOverviews(database, organization.id);
    const rows = keys.map((key) => [
      key.keyPrefix,
      shown(key.name),
      shown(key.projectName),
      shown(key.createdBy ?? '-'),
      pkrInWords(key.spentMicroPkr),
      key.creditLimitMicroPkr === null ? 'no limit' : pkrInWords(key.creditLimitMicroPkr),
      key.expiresAt === null ? 'never' : minute(key.expiresAt),
    ]);
    print(
      context,
      { organization, keys: keys.map(keyDocument) },
      rows.length === 0
        ? [`${shown(organization.name)} has no keys.`]
        : columns([['PREFIX', 'NAME', 'PROJECT', 'MINTED BY', 'SPENT', 'LIMIT', 'EXPIRES (UTC)'], ...rows]),
    );
    return 0;
  });
}
