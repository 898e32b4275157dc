import type { Surface } from '@gatehouse/contract';
import { chat } from './chat/index.ts';
import { completions } from './completions/index.ts';
import { embeddings } from './embeddings/index.ts';
import type { Format, StreamOptions } from './format.ts';
import { countTokens } from './messages/count-tokens.ts';
import { messages } from './messages/index.ts';
import type { CallersStream } from './outgoing.ts';
import { responses } from './responses/index.ts';
import { openTranslatedEvents, type TranslationNotes } from './translation/index.ts';

/** The wire formats that this gateway speaks, to callers and to providers. */
export const FORMATS: Readonly<Partial<Record<Surface, Format>>> = {
  chat,
  completions,
  embeddings,
  responses,
  messages,
  count_tokens: countTokens,
};

export function formatOf(surface: Surface): Format {
  const format = FORMATS[surface];
  if (!format) throw new Error(`no format for ${surface}`);
  return format;
}

/** The translation of an answer, where the caller reads another format. */
export interface AnswerTranslation {
  readonly to: Surface;
  readonly notes: TranslationNotes;
}

/** The reading of a provider's stream on its way to a caller, who may read another format. */
export function openCallersStream(
  surface: Surface,
  translation: AnswerTranslation | undefined,
  options: StreamOptions,
): CallersStream {
  const format = formatOf(surface);
  return format.openStream(options, translation && openTranslatedEvents(translation.to, translation.notes));
}
