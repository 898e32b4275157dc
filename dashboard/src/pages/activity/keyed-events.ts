import type { ActivityEvent } from '@gatehouse/sdk';

export interface KeyedEvent extends ActivityEvent {
  readonly key: string;
}

/** Events have no id. Their time is one, unless two happened in the same microsecond; these are counted. */
export function keyed(events: readonly ActivityEvent[]): KeyedEvent[] {
  const seen = new Map<string, number>();
  return events.map((event) => {
    const count = seen.get(event.timestamp) ?? 0;
    seen.set(event.timestamp, count + 1);
    return { ...event, key: `${event.timestamp} ${count}` };
  });
}
