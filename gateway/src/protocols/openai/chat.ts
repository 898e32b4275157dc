import type { Format } from '../format.ts';
import { UsageMember } from '../usage-member.ts';
import { readChatAnswer } from './chat-answer.ts';
import { chatEdits } from './chat-layout.ts';
import { ChatStream } from './chat-stream.ts';
import { readChat } from './read-chat.ts';
import { readUsage } from './usage.ts';

// What Mistral takes; other strict providers take no less.
const COMMON_MEMBERS = new Set([
  ...['model', 'messages', 'stream', 'max_tokens', 'temperature', 'top_p', 'stop', 'tools', 'tool_choice'],
  ...['parallel_tool_calls', 'response_format', 'frequency_penalty', 'presence_penalty', 'n'],
]);

/** OpenAI's chat completions. */
export const chat: Format = {
  surface: 'chat',
  dialect: 'openai',
  commonMembers: COMMON_MEMBERS,
  readRequest: readChat,
  upstreamEdits: chatEdits,
  readAnswer: readChatAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: (options) => new ChatStream(options),
  streamError: ({ bodyText }) => Buffer.from(`data: ${bodyText}\n\n`),
};
