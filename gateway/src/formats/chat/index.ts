import { AnswerStream } from '../answer-stream.ts';
import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-figures.ts';
import { chatEvents } from './events-of-answer.ts';
import { chatEdits, readChat } from './facts-of-request.ts';
import { CHAT_MEMBERS } from './members.ts';
import { readAnswer, readChatAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { ChatReader } from './read-stream.ts';
import { ChatStreamWriter } from './stream-writer.ts';
import { writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';

/** OpenAI's chat completions. */
export const chat: Format = {
  surface: 'chat',
  dialect: 'openai',
  members: CHAT_MEMBERS,
  readRequest: readChat,
  upstreamEdits: chatEdits,
  readAnswer: readChatAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: (options, translated) =>
    new AnswerStream((tally) => new ChatReader(tally, options, translated), options.redaction, translated),
  eventsOf: chatEvents,
  streamError: ({ bodyText }) => Buffer.from(`data: ${bodyText}\n\n`),
  translator: {
    readRequest,
    writeRequest,
    readAnswer,
    writeAnswer,
    openWriter: (notes) => new ChatStreamWriter(notes),
  },
};
