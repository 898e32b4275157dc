import type { Surface } from '@gatehouse/contract';
import { chat } from './chat/index.ts';
import { completions } from './completions/index.ts';
import { embeddings } from './embeddings/index.ts';
import type { Format } from './format.ts';
import { countTokens } from './messages/count-tokens.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

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
