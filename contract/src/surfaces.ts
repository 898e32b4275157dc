/**
 * The wire formats of model requests. An *endpoint* is what a caller calls, a *surface* is what the gateway asks the
 * provider for. They have the same names; if they differ, the gateway translates.
 */
export const SURFACES = [
  'chat',
  'completions',
  'embeddings',
  'responses',
  'messages',
  'count_tokens',
] as const;

export type Surface = (typeof SURFACES)[number];

export type ProviderProtocol = 'openai' | 'anthropic' | 'demo';

/** The path of each surface of a provider, below its base URL, unless its entry in the catalogue says otherwise. */
export const SURFACE_PATHS: Readonly<Record<Surface, string>> = {
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
  responses: '/responses',
  messages: '/messages',
  count_tokens: '/messages/count_tokens',
};

// Many providers with OpenAI's protocol have no /responses, so a catalogue lists it where it exists.
/** The surfaces of a provider of a protocol unless its entry in the catalogue says otherwise, with the paths. */
export const DEFAULT_SURFACES: Readonly<Record<ProviderProtocol, ReadonlyMap<Surface, string>>> = {
  openai: atDefaultPaths(['chat', 'completions', 'embeddings']),
  anthropic: atDefaultPaths(['messages', 'count_tokens']),
  // Other callers get its chat, translated.
  demo: atDefaultPaths(['chat', 'completions', 'embeddings', 'count_tokens']),
};

function atDefaultPaths(surfaces: readonly Surface[]): ReadonlyMap<Surface, string> {
  return new Map(surfaces.map((surface) => [surface, SURFACE_PATHS[surface]]));
}
