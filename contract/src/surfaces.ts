/**
 * The wire formats of model requests. What a caller calls is an *endpoint*, what is asked of a provider is a *surface*:
 * they have the same names, and where they differ the gateway translates.
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

// Many providers with OpenAI's protocol have no /responses, so a catalogue lists it where it exists.
/** What a provider of a protocol offers unless its entry in the catalogue says otherwise: paths below its base URL. */
export const DEFAULT_SURFACES: Readonly<Record<ProviderProtocol, ReadonlyMap<Surface, string>>> = {
  openai: new Map([
    ['chat', '/chat/completions'],
    ['completions', '/completions'],
    ['embeddings', '/embeddings'],
  ]),
  anthropic: new Map([
    ['messages', '/messages'],
    ['count_tokens', '/messages/count_tokens'],
  ]),
  // As the clients of each format call them.
  demo: new Map([
    ['chat', '/chat/completions'],
    ['completions', '/completions'],
    ['embeddings', '/embeddings'],
    ['responses', '/responses'],
    ['messages', '/messages'],
    ['count_tokens', '/messages/count_tokens'],
  ]),
};
