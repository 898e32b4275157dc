import { anthropicError } from '../../errors/anthropic-error.ts';
import { AnswerStream } from '../answer-stream.ts';
import { bodyEdits } from '../body-layout.ts';
import type { Format } from '../format.ts';
import { UsageMember } from '../usage-figures.ts';
import { messagesEvents } from './events-of-answer.ts';
import { readMessages } from './facts-of-request.ts';
import { MESSAGES_MEMBERS } from './members.ts';
import { readAnswer, readMessagesAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { MessagesReader } from './read-stream.ts';
import { readUsage } from './usage.ts';

const CAP = ['max_tokens'] as const;

import { MessagesStreamWriter } from './stream-writer.ts';
import { writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';

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
