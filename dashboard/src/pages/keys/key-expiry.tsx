import { now } from '../../browser/clock.ts';
import { Badge } from '../../ui/badge.tsx';
import * as list from '../../ui/list-page.module.css';
import { Time } from '../../ui/time.tsx';
import { expiryState } from './expiry.ts';

export function KeyExpiry({ at }: { at: string | null }) {
  if (at === null) return <span className={list.muted}>Never</span>;
  const state = expiryState(at, now());
  if (state === 'later') return <Time at={at} relative />;
  return (
    <Badge tone={state === 'expired' ? 'bad' : 'warn'}>
      {state === 'expired' ? 'Expired ' : ''}
      <Time at={at} relative />
    </Badge>
  );
}
