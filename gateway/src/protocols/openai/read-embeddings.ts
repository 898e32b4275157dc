import { layoutOf } from '../body-layout.ts';
import type { EndpointReading } from '../format.ts';
import { refuseOtherCase } from '../members.ts';
import type { ParsedBody } from '../parse-body.ts';
import { readTokenInput } from './token-input.ts';

// What this gateway goes by.
const JUDGED = new Set(['model', 'input']);

/** Reads the body of `POST /v1/embeddings`. What the gateway has no stake in is left to the upstream. */
export function readEmbeddings(body: ParsedBody): EndpointReading {
  refuseOtherCase(body.spans.keys(), JUDGED);
  const { overheadTokens, texts } = readTokenInput('input', body.value['input']);
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
