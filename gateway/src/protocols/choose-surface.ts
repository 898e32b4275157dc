import type { Surface } from '@gatehouse/contract';
import { FORMATS } from './formats.ts';

// What to ask of a provider for what a caller called: the same where the provider has it. The others lead nowhere:
// they are not translated.
const PREFERENCES: Readonly<Record<Surface, readonly Surface[]>> = {
  chat: ['chat'],
  completions: ['completions'],
  embeddings: ['embeddings'],
  responses: ['responses'],
  messages: ['messages'],
  count_tokens: ['count_tokens'],
};

/** The surface to use of those that a provider has; undefined where none serves the endpoint. */
export function chooseSurface(
  endpoint: Surface,
  surfaces: { has(surface: Surface): boolean },
): Surface | undefined {
  return PREFERENCES[endpoint].find((surface) => FORMATS[surface] !== undefined && surfaces.has(surface));
}
