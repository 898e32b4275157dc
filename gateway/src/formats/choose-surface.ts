import type { Surface } from '@gatehouse/contract';
import type { RequestFacts } from './call.ts';
import { FORMATS } from './formats.ts';
import { isTranslated } from './translation/index.ts';

// The endpoint's own surface first, then the one whose format loses least of it.
const PREFERENCES: Readonly<Record<Surface, readonly Surface[]>> = {
  chat: ['chat', 'messages', 'responses'],
  completions: ['completions'],
  embeddings: ['embeddings'],
  responses: ['responses', 'chat', 'messages'],
  messages: ['messages', 'chat', 'responses'],
  count_tokens: ['count_tokens'],
};
// OpenAI's newest models take tools together with reasoning in responses only. But responses knows no stop sequences.
const MESSAGES_WITH_TOOLS: readonly Surface[] = ['messages', 'responses', 'chat'];

/** The part of a request that decides between two surfaces that could both serve it. */
type Wanted = Pick<RequestFacts, 'format' | 'toolTypes' | 'members'>;

/**
 * The surface to use of those that a provider has, for a request in its own format if it is not the endpoint's; undefined
 * where none serves the endpoint.
 */
export function chooseSurface(
  endpoint: Surface,
  surfaces: { has(surface: Surface): boolean },
  wanted?: Wanted,
): Surface | undefined {
  const format = wanted?.format ?? endpoint;
  return preferences(endpoint, wanted).find(
    (surface) =>
      surfaces.has(surface) &&
      speaks(surface) &&
      isWithinReach(format, surface) &&
      isWithinReach(endpoint, surface),
  );
}

function preferences(endpoint: Surface, wanted: Wanted | undefined): readonly Surface[] {
  const needsTools =
    wanted !== undefined && wanted.toolTypes.length > 0 && !wanted.members.has('stop_sequences');
  return endpoint === 'messages' && needsTools ? MESSAGES_WITH_TOOLS : PREFERENCES[endpoint];
}

function speaks(surface: Surface): boolean {
  return FORMATS[surface] !== undefined;
}

function isWithinReach(format: Surface, surface: Surface): boolean {
  return format === surface || isTranslated(format, surface);
}
