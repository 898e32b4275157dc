import type { Surface } from '@gatehouse/contract';
import { countTokens } from './anthropic/count-tokens.ts';
import { messages } from './anthropic/messages.ts';
import type { Format } from './format.ts';
import { chat } from './openai/chat.ts';
import { completions } from './openai/completions.ts';
import { embeddings } from './openai/embeddings.ts';
import { responses } from './openai/responses.ts';

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
