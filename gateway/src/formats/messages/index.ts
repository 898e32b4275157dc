import { anthropicError } from '../../errors/anthropic-error.ts';
import { isTooComplex, parseJson } from '../../wire/answer-json.ts';
import { isJsonObject } from '../../wire/json.ts';
import { AnswerStream } from '../answer-stream.ts';
import { GeneratedText } from '../answer-tally.ts';
import { bodyEdits } from '../body-layout.ts';
import type { AnswerContent, Format } from '../format.ts';
import { isTokenCount, UsageMember } from '../usage-figures.ts';
import { messagesEvents } from './events-of-answer.ts';
import { readMessages, readPrompt } from './facts-of-request.ts';
import { MESSAGES_MEMBERS } from './members.ts';
import { readAnswer, readMessagesAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { MessagesReader } from './read-stream.ts';
import { MessagesStreamWriter } from './stream-writer.ts';
import { readUsage } from './usage.ts';
import { writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';

const CAP = ['max_tokens'] as const;

/** Anthropic's messages. */
export const messages: Format = {
  surface: 'messages',
  dialect: 'anthropic',
  members: MESSAGES_MEMBERS,
  readRequest: readMessages,
  upstreamEdits: (layout, target) => bodyEdits(layout, target, { known: CAP, sent: CAP }),
  readAnswer: readMessagesAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: ({ redaction }, translated) =>
    new AnswerStream((tally) => new MessagesReader(tally, translated), redaction, translated),
  eventsOf: messagesEvents,
  streamError: (error, requestId) =>
    Buffer.from(`event: error\ndata: ${anthropicError(error, requestId)}\n\n`),
  translator: {
    readRequest,
    writeRequest,
    readAnswer,
    writeAnswer,
    openWriter: (notes) => new MessagesStreamWriter(notes),
  },
};

const { translator: _, ...untranslated } = messages;

/** Anthropic's counting of a prompt. Nothing is generated, and nothing is billed. */
export const countTokens: Format = {
  ...untranslated,
  surface: 'count_tokens',
  readRequest: readPrompt,
  upstreamEdits: bodyEdits,
  readAnswer: readCount,
  openUsage: () => ({ push() {}, usage: undefined }),
};

/** An answer that states a count. */
function readCount(body: Buffer): AnswerContent | undefined {
  const answer = isTooComplex(body) ? undefined : parseJson(body.toString());
  if (!isJsonObject(answer) || !isTokenCount(answer['input_tokens'])) return undefined;
  return {
    usage: undefined,
    hasContent: false,
    hasReasoning: false,
    generated: new GeneratedText(),
    upstreamError: null,
  };
}
