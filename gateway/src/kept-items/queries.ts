import type { OrganizationId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';

interface SealedItem {
  readonly idHash: Buffer;
  readonly sealed: Buffer;
}

/** Keeps the items for an hour. Losing them in a crash costs no one anything. */
export const keepItems = statement<{
  organizationId: OrganizationId;
  idHashes: readonly Buffer[];
  sealed: readonly Buffer[];
}>(
  'gateway-keep-items',
  sql`
    INSERT INTO kept_items (organization_id, id_hash, sealed, kept_until)
    SELECT ${'organizationId'}, i.id_hash, i.sealed, clock_timestamp() + interval '1 hour'
    FROM unnest(${'idHashes'}::bytea[], ${'sealed'}::bytea[]) AS i (id_hash, sealed),
         set_config('synchronous_commit', 'off', true)
    ON CONFLICT DO NOTHING`,
);

export const findItems = statement<
  { organizationId: OrganizationId; idHashes: readonly Buffer[] },
  SealedItem
>(
  'gateway-find-items',
  sql`
    SELECT id_hash, sealed FROM kept_items
    WHERE organization_id = ${'organizationId'} AND id_hash = ANY (${'idHashes'}::bytea[]) AND kept_until > clock_timestamp()`,
);
