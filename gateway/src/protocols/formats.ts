import type { Surface } from '@gatehouse/contract';
import type { Format } from './format.ts';
import { chat } from './openai/chat.ts';

/** The wire formats that this gateway speaks, to callers and to providers. */
export const FORMATS: Readonly<Partial<Record<Surface, Format>>> = {
  chat,
};

export function formatOf(surface: Surface): Format {
  const format = FORMATS[surface];
  if (!format) throw new Error(`no format for ${surface}`);
  return format;
}
