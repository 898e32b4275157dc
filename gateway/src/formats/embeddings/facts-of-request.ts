import { layoutOf } from '../body-layout.ts';
import type { EndpointReading } from '../format.ts';
import { refuseOtherCase } from '../members.ts';
import type { ParsedBody } from '../parse-body.ts';
import { PromptParts } from '../prompt-parts.ts';
import { addTokenInput } from '../token-input.ts';

// What this gateway goes by.
const JUDGED = new Set(['model', 'input']);

/** The members that every provider of the format takes. */
export const EMBEDDINGS_MEMBERS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'encoding_format', 'dimensions'],
]);

/** Reads the body of `POST /v1/embeddings`. What the gateway has no stake in is left to the upstream. */
export function readEmbeddings(body: ParsedBody): EndpointReading {
  refuseOtherCase(body.spans.keys(), JUDGED);
  const parts = new PromptParts();
  addTokenInput(parts, 'input', body.value['input']);
  parts.addSettings(body.value, JUDGED, EMBEDDINGS_MEMBERS);
  const { overheadTokens, texts } = parts.size;
  return {
    facts: {
      isStream: false,
      // Nothing is generated, so the prompt is all that it costs.
      choices: 0,
      outputCap: undefined,
      showsUsage: true,
      uncountableParts: [],
      toolTypes: [],
      layout: layoutOf(body),
    },
    overheadTokens,
    texts,
  };
}
