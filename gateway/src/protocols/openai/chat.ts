import type { Format } from '../format.ts';
import { UsageMember } from '../usage-member.ts';
import { readChatAnswer } from './chat-answer.ts';
import { chatEvents } from './chat-events.ts';
import { chatEdits } from './chat-layout.ts';
import { CHAT_MEMBERS } from './chat-prompt.ts';
import { ChatStream } from './chat-stream.ts';
import { readChat } from './read-chat.ts';
import { readUsage } from './usage.ts';

/** OpenAI's chat completions. */
export const chat: Format = {
  surface: 'chat',
  dialect: 'openai',
  commonMembers: CHAT_MEMBERS,
  readRequest: readChat,
  upstreamEdits: chatEdits,
  readAnswer: readChatAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: (options) => new ChatStream(options),
  eventsOf: chatEvents,
  streamError: ({ bodyText }) => Buffer.from(`data: ${bodyText}\n\n`),
};
