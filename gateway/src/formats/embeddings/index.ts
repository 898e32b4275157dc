import { MemberReader } from '../../wire/member-reader.ts';
import { GeneratedText } from '../answer-tally.ts';
import { bodyEdits } from '../body-layout.ts';
import type { AnswerContent, Format } from '../format.ts';
import { errorBeside } from '../peculiarities/error-message.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import type { Usage, UsageReader } from '../protocol.ts';
import { readEmbeddings } from './facts-of-request.ts';
import { EMBEDDINGS_MEMBERS } from './members.ts';
import { EmbeddingsStream } from './stream.ts';

/** OpenAI's embeddings. */
export const embeddings: Format = {
  surface: 'embeddings',
  dialect: 'openai',
  members: EMBEDDINGS_MEMBERS,
  readRequest: readEmbeddings,
  upstreamEdits: (layout, target) => bodyEdits(layout, target),
  readAnswer: readEmbeddingsAnswer,
  openUsage: () => new EmbeddingsUsage(),
  openStream: ({ redaction }) => new EmbeddingsStream(redaction),
  streamError: () => undefined,
  passesWhole: true,
};

/** Millions of numbers may be in there, so it is looked through and not parsed. Without a vector it is no answer. */
function readEmbeddingsAnswer(body: Buffer): AnswerContent | undefined {
  const usage = new EmbeddingsUsage();
  const error = new MemberReader('error');
  const data = new MemberReader('data');
  for (const reader of [usage, error, data]) reader.push(body);
  if (!usage.isWhole || !data.isFilled) return undefined;
  return {
    usage: usage.usage,
    hasContent: true,
    hasReasoning: false,
    generated: new GeneratedText(),
    upstreamError: errorBeside({ error: error.value }) ?? null,
  };
}

class EmbeddingsUsage implements UsageReader {
  readonly #member = new MemberReader('usage');

  get usage(): Usage | undefined {
    return readUsage(this.#member.value, false);
  }

  get isWhole(): boolean {
    return this.#member.isWhole;
  }

  push(chunk: Buffer): void {
    this.#member.push(chunk);
  }
}
