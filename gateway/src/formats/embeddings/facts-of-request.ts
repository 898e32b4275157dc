import { layoutOf } from '../body-layout.ts';
import type { EndpointReading } from '../format.ts';
import type { ParsedBody } from '../parse-body.ts';
import { PromptParts } from '../prompt-parts.ts';
import { addTokenInput } from '../token-input.ts';
import { EMBEDDINGS_MEMBERS } from './members.ts';

/** Reads the body of `POST /v1/embeddings`. What the gateway has no stake in is left to the upstream. */
export function readEmbeddings(body: ParsedBody): EndpointReading {
  EMBEDDINGS_MEMBERS.checkNames(body.spans.keys());
  const parts = new PromptParts();
  addTokenInput(parts, 'input', body.value['input']);
  EMBEDDINGS_MEMBERS.addTo(parts, body.value);
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
