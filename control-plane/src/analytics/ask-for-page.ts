import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@gatehouse/contract';
import { type Asker, type Inquiry, openInquiry } from './inquiry.ts';
import type { AnalyticsParts } from './parts.ts';

/** Puts the questions that one page of an answer takes, within a time limit of their own. */
export type AskForPage = <T>(ask: (inquiry: Inquiry) => Promise<T>) => Promise<T>;

/**
 * How the pages of one answer are asked for. The first is asked for once: nothing is sent yet, so the caller can be told.
 * A later one is asked for again after each of the pauses, or a store that restarts would cost the caller all it has read.
 */
export function openPages(parts: AnalyticsParts, asker: Asker): AskForPage {
  let pauses: readonly number[] = [];
  return async (ask) => {
    for (const pauseMs of pauses) {
      try {
        return await ask(openInquiry(parts, asker));
      } catch (error) {
        if (!(error instanceof ApiError) || asker.gone.aborted) throw error;
        await delay(pauseMs, undefined, { signal: asker.gone });
      }
    }
    const page = await ask(openInquiry(parts, asker));
    pauses = parts.pausesMs;
    return page;
  };
}
