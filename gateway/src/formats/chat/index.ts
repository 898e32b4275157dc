import { AnswerStream } from '../answer-stream.ts';
import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-figures.ts';
import { chatEvents } from './events-of-answer.ts';
import { readChat } from './facts-of-request.ts';
import { chatEdits } from './layout.ts';
import { CHAT_MEMBERS } from './members.ts';
import { readChatAnswer } from './read-answer.ts';
import { ChatReader } from './read-stream.ts';

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
};
