import { pkrInWords } from '@gatehouse/contract';
import type { KeyOverview } from '@gatehouse/control-plane/keys';
import type { Context } from '../../terminal/command.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';
import { keyDocument, requireKey } from './overview.ts';

export function showKey(reference: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const key = await requireKey(database, reference);
    print(context, { key: keyDocument(key) }, columns(rowsOf(key)));
    return 0;
  });
}

function rowsOf(key: KeyOverview): string[][] {
  return [
    ['Key', key.keyPrefix],
    ['Name', shown(key.name)],
    ['Id', key.id],
    ['Organisation', `${shown(key.organizationName)} (${key.organizationId})`],
    ['Project', shown(key.projectName)],
    ['Environment', key.environment],
    ['Minted', `${minute(key.createdAt)} UTC, by ${shown(key.createdBy ?? 'nobody who is here')}`],
    ['Rate', `${key.rateLimitRpm} requests a minute`],
    ['Limit', key.creditLimitMicroPkr === null ? 'none' : pkrInWords(key.creditLimitMicroPkr)],
    ['Spent', pkrInWords(key.spentMicroPkr)],
    ['Held', pkrInWords(key.heldMicroPkr)],
    ['Models', key.allowedModels === null ? 'all' : key.allowedModels.map(shown).join(', ')],
    ['Expires', key.expiresAt === null ? 'never' : `${minute(key.expiresAt)} UTC`],
    ...(key.previousKeyPrefix === null
      ? []
      : [
          ['Previous secret', `${key.previousKeyPrefix}, until ${minute(key.previousValidUntil ?? '')} UTC`],
          [
            'Its last use',
            key.previousLastUsedAt === null ? 'before the rotation' : `${minute(key.previousLastUsedAt)} UTC`,
          ],
        ]),
    ['State', key.revokedAt === null ? 'active' : `revoked ${minute(key.revokedAt)} UTC`],
  ];
}
