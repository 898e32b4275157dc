import { CHAT_MESSAGES_ROWS } from './feature-rows-chat-messages.ts';
import { RESPONSES_ROWS } from './feature-rows-responses.ts';
import type { Feature } from './features.ts';

// The one place that says what becomes of a feature where a provider speaks another format than the caller. The
// translators ask it, docs/translation.md is written from it, and feature-table.test.ts tries every entry.

/** The formats that are translated into each other. */
export const TRANSLATED_FORMATS = ['chat', 'messages', 'responses'] as const;
export type TranslatedFormat = (typeof TRANSLATED_FORMATS)[number];

/** From the caller's format to the provider's. */
export type Direction = `${TranslatedFormat} to ${TranslatedFormat}`;

/**
 * Translated: the provider is asked for the same in its own format. Dropped: not sent, and named in the answer's
 * `x-gatehouse-dropped`. Refused: 400, because without it the answer would mean something else.
 */
export type Treatment = 'translated' | 'dropped' | 'refused';

/** Without the directions in which the caller's format does not have the feature. */
export type FeatureRows<Directions extends Direction> = {
  readonly [Name in Feature]?: { readonly [From in Directions]?: Treatment };
};

export function treatmentOf(feature: Feature, direction: Direction): Treatment | undefined {
  const rows: FeatureRows<Direction>[] = [CHAT_MESSAGES_ROWS, RESPONSES_ROWS];
  for (const row of rows) {
    const treatment = row[feature]?.[direction];
    if (treatment) return treatment;
  }
  return undefined;
}
