import { type AlertChannelId, uuidFromText } from '@gatehouse/contract';
import { creatorFields } from '../organization/index.ts';
import type { ChannelRow } from './queries.ts';

/** A channel as replies show it. */
export function channelFields(row: ChannelRow) {
  const { id, kind, destination, createdAt } = row;
  return {
    id,
    kind,
    ...(kind === 'webhook' ? { url: destination } : { address: destination }),
    created_by: creatorFields(row),
    created_at: createdAt,
  };
}

/** A channel in the activity log, where its path may be a secret: the host of a webhook, or the address. */
export function channelInWords({ kind, destination }: Pick<ChannelRow, 'kind' | 'destination'>): string {
  return kind === 'webhook' ? new URL(destination).host : destination;
}

/** The id in canonical form; undefined for a malformed one. Whose channel it is remains to be checked. */
export function channelIdFromText(given: string): AlertChannelId | undefined {
  return uuidFromText(given) as AlertChannelId | undefined;
}
