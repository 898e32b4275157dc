import { MemberReader } from '../../wire/member-reader.ts';
import { GeneratedText } from '../answer-tally.ts';
import { bodyEdits, layoutOf } from '../body-layout.ts';
import type { AnswerContent, EndpointReading, Format } from '../format.ts';
import { memberTable } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { errorBeside } from '../peculiarities/error-message.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { PromptParts } from '../prompt-parts.ts';
import { addTokenInput } from '../token-input.ts';
import { UsageMember } from '../usage-figures.ts';
import { Base64Vectors } from './base64-vectors.ts';
import { EmbeddingsStream } from './stream.ts';

/** The members of `POST /v1/embeddings`. */
const EMBEDDINGS_MEMBERS = memberTable({
  model: ['common', 'judged', 'counted'],
  input: ['common', 'judged', 'counted'],
  encoding_format: ['common'],
  dimensions: ['common'],
});

/** OpenAI's embeddings. */
export const embeddings: Format = {
  surface: 'embeddings',
  dialect: 'openai',
  members: EMBEDDINGS_MEMBERS,
  readRequest: readEmbeddings,
  upstreamEdits: (layout, target) => bodyEdits(layout, target),
  readAnswer: readEmbeddingsAnswer,
  openUsage,
  openStream: ({ redaction, encodingFormat }) =>
    new EmbeddingsStream(redaction, encodingFormat === 'base64' ? new Base64Vectors() : undefined),
  streamError: () => undefined,
  passesWhole: true,
};

/** Millions of numbers may be in there, so it is looked through and not parsed. Without a vector it is no answer. */
function readEmbeddingsAnswer(body: Buffer): AnswerContent | undefined {
  const usage = openUsage();
  const error = new MemberReader('error');
  const data = new MemberReader('data');
  for (const reader of [usage, error, data]) reader.push(body);
  if (!usage.isWhole || !data.hasObject) return undefined;
  return {
    usage: usage.usage,
    hasContent: true,
    hasReasoning: false,
    generated: new GeneratedText(),
    upstreamError: errorBeside({ error: error.value }) ?? null,
  };
}

/** Reads the usage of embeddings, which generate nothing. */
function openUsage(): UsageMember {
  return new UsageMember((value) => readUsage(value, false));
}

/** Reads the body of `POST /v1/embeddings`. What the gateway has no stake in is left to the upstream. */
function readEmbeddings(body: ParsedBody): EndpointReading {
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
