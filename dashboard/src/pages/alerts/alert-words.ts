import type { AlertChannel, AlertDelivery } from '@gatehouse/sdk';
import type { Tone } from '../../ui/badge.tsx';

export const ALERT_WORDS: Readonly<Record<AlertDelivery['type'], string>> = {
  'spend_limit.threshold_reached': 'Spend limit nearly reached',
  'spend_limit.reached': 'Spend limit reached',
  'balance.low': 'Balance low',
  'key.expiring': 'Key expires soon',
  'alert.test': 'Test',
};

export const STATUS_WORDS: Readonly<
  Record<AlertDelivery['status'], { readonly word: string; readonly tone: Tone }>
> = {
  pending: { word: 'On its way', tone: 'info' },
  delivered: { word: 'Delivered', tone: 'good' },
  failed: { word: 'Given up', tone: 'bad' },
};

export const KIND_WORDS: Readonly<Record<AlertChannel['kind'], string>> = {
  webhook: 'Webhook',
  email: 'E-mail',
};

/** The URL or the address. */
export function destinationOf({ url, address }: AlertChannel): string {
  return url ?? address ?? '';
}
