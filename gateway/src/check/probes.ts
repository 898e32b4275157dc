import type { Surface } from '@gatehouse/contract';

// The requests of a check: small, and with a tool where the format has tools, since its calls are what providers get wrong.

export const TOOL = 'report';
const DESCRIPTION = 'Reports a word.';
const PARAMETERS = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
  additionalProperties: false,
};
const PROMPT = `Call the tool ${TOOL} with the word "ready".`;
const MESSAGES = [{ role: 'user', content: PROMPT }];
/** Enough for a model that thinks first. */
export const OUTPUT_CAP = 512;

/** The surfaces that can be asked for a stream. */
export const STREAMED: ReadonlySet<Surface> = new Set(['chat', 'completions', 'responses', 'messages']);

/** The endpoint of a route by which its target is asked on this surface. */
export const ENDPOINTS_OF: Readonly<Record<Surface, readonly string[]>> = {
  chat: ['chat', 'responses', 'messages'],
  responses: ['chat', 'responses', 'messages'],
  messages: ['chat', 'responses', 'messages'],
  count_tokens: ['messages'],
  completions: ['completions'],
  embeddings: ['embeddings'],
};

/** The body as a caller sends it. */
export function probeBody(surface: Surface, model: string, isStream: boolean): Buffer {
  return Buffer.from(JSON.stringify({ model, ...membersOf(surface), ...(isStream && { stream: true }) }));
}

function membersOf(surface: Surface): object {
  const ofAnthropic = {
    messages: MESSAGES,
    tools: [{ name: TOOL, description: DESCRIPTION, input_schema: PARAMETERS }],
  };
  switch (surface) {
    case 'chat':
      return {
        messages: MESSAGES,
        tools: [
          { type: 'function', function: { name: TOOL, description: DESCRIPTION, parameters: PARAMETERS } },
        ],
      };
    case 'responses':
      return {
        input: PROMPT,
        tools: [
          { type: 'function', name: TOOL, description: DESCRIPTION, parameters: PARAMETERS, strict: false },
        ],
      };
    case 'messages':
      return { ...ofAnthropic, max_tokens: OUTPUT_CAP };
    case 'count_tokens':
      return ofAnthropic;
    case 'completions':
      return { prompt: 'The word is' };
    case 'embeddings':
      return { input: 'ready' };
  }
}
