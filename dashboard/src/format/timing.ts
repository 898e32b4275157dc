import type { RequestLogEntry } from '@gatehouse/sdk';

export interface TimingPart {
  readonly id: 'before' | 'first' | 'generation' | 'answer';
  readonly label: string;
  readonly ms: number;
}

/**
 * How the time of a request divides. A part is never negative, and together they are the whole, also where a clock or a provider
 * disagrees.
 */
export function timingParts({
  total_ms,
  ttft_ms,
  pre_dispatch_ms,
}: Pick<RequestLogEntry['metrics'], 'total_ms' | 'ttft_ms' | 'pre_dispatch_ms'>): TimingPart[] {
  const total = Math.max(0, total_ms);
  const before = Math.min(Math.max(0, pre_dispatch_ms), total);
  const parts: TimingPart[] = [{ id: 'before', label: 'In the gateway, before the provider', ms: before }];
  if (ttft_ms === null) {
    parts.push({ id: 'answer', label: 'At the provider', ms: total - before });
    return parts;
  }
  const first = Math.min(Math.max(before, ttft_ms), total);
  parts.push(
    { id: 'first', label: 'Until the first token', ms: first - before },
    { id: 'generation', label: 'Generating', ms: total - first },
  );
  return parts;
}
