import { retireKey } from '@gatehouse/control-plane/keys';
import { lockOrganization } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { confirmation } from '../../terminal/confirm.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { keyDocument, requireKey } from './overview.ts';

export function revokeOneKey(
  args: { readonly key: string; readonly yes: string | undefined },
  context: Context,
): Promise<number> {
  const confirm = confirmation(context, args.yes, 'gatehouse key revoke');
  return withDatabase(context, async (database) => {
    const key = await requireKey(database, args.key);
    const { id: keyId, organizationId, organizationName } = key;
    const named = `${key.keyPrefix} (${shown(key.name)}) of ${shown(organizationName)}`;
    if (key.revokedAt === null) await confirm(`Revoke ${named}? It cannot be taken back.`);
    const hasChanged =
      key.revokedAt === null &&
      (await change('gatehouse key show', () =>
        database.transaction(async (tx) => {
          await lockOrganization(tx, organizationId);
          return retireKey(tx, { organizationId, keyId }, operator({ organizationId, actorUserId: null }));
        }),
      ));
    const now = await requireKey(database, keyId);
    print(context, { key: keyDocument(now), changed: hasChanged }, [
      hasChanged
        ? `${named} is revoked: no gateway accepts it from the next request on.`
        : `${named} was revoked already; nothing changed.`,
    ]);
    return 0;
  });
}
