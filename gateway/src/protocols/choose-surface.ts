import type { Surface } from '@gatehouse/contract';
import { FORMATS } from './formats.ts';
import { isTranslated } from './translation/index.ts';

// What to ask of a provider for what a caller called: the same where the provider has it, else what says most of it.
const PREFERENCES: Readonly<Record<Surface, readonly Surface[]>> = {
  chat: ['chat', 'messages', 'responses'],
  completions: ['completions'],
  embeddings: ['embeddings'],
  responses: ['responses', 'chat', 'messages'],
  messages: ['messages', 'chat', 'responses'],
  count_tokens: ['count_tokens'],
};

/**
 * The surface to use of those that a provider has, for a body in this format; undefined where none serves the endpoint.
 */
export function chooseSurface(
  endpoint: Surface,
  surfaces: { has(surface: Surface): boolean },
  format = endpoint,
): Surface | undefined {
  return PREFERENCES[endpoint].find(
    (surface) =>
      surfaces.has(surface) &&
      speaks(surface) &&
      isWithinReach(format, surface) &&
      isWithinReach(endpoint, surface),
  );
}

function speaks(surface: Surface): boolean {
  return FORMATS[surface] !== undefined;
}

function isWithinReach(format: Surface, surface: Surface): boolean {
  return format === surface || isTranslated(format, surface);
}
