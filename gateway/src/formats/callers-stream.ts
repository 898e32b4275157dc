import type { Surface } from '@gatehouse/contract';
import type { StreamOptions } from './format.ts';
import { formatOf } from './formats.ts';
import type { CallersStream } from './outgoing.ts';
import { openTranslatedEvents, type TranslationNotes } from './translation/index.ts';

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
