import type { ActivityEvent } from '@gatehouse/sdk';
import { ACTIVITY_KINDS } from '../../format/activity-sentence.ts';

/** The search parameters of the page. */
export interface ActivitySearch {
  readonly action?: ActivityEvent['action'] | undefined;
  /** An e-mail address. */
  readonly actor?: string | undefined;
  readonly offset?: number | undefined;
  /** The time of the newest event of the first page. Later pages keep to it, so that new events move none of theirs. */
  readonly until?: string | undefined;
}

const MAX_ACTOR = 320;

/** Keeps what is valid. A page without the time of the first is the first. */
export function validateActivity(search: Readonly<Record<string, unknown>>): ActivitySearch {
  const { action, actor, offset, until } = search;
  const kind = ACTIVITY_KINDS.find(({ value }) => value === action)?.value;
  const isLater =
    /^[1-9]\d{0,8}$/.test(String(offset)) && typeof until === 'string' && !Number.isNaN(Date.parse(until));
  return {
    ...(kind === undefined ? {} : { action: kind }),
    ...(typeof actor === 'string' && actor !== '' && actor.length <= MAX_ACTOR ? { actor } : {}),
    ...(isLater ? { offset: Number(offset), until } : {}),
  };
}
