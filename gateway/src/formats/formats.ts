import type { Surface } from '@gatehouse/contract';
import { chat } from './chat/index.ts';
import { completions } from './completions/index.ts';
import { embeddings } from './embeddings/index.ts';
import type { Format, StreamOptions } from './format.ts';
import { countTokens, messages } from './messages/index.ts';
import type { CallersStream } from './outgoing.ts';
import { responses } from './responses/index.ts';
import { TranslatedEvents } from './translation/stream-events.ts';
import type { TranslationNotes, Translator } from './translation/translator.ts';

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

export function translatorOf(surface: Surface): Translator {
  const { translator } = formatOf(surface);
  if (!translator) throw new Error(`${surface} is not translated`);
  return translator;
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
  if (!translation) return formatOf(surface).openStream(options);
  const { to, notes } = translation;
  return formatOf(surface).openStream(
    options,
    new TranslatedEvents(notes, translatorOf(to).openWriter(notes)),
  );
}
