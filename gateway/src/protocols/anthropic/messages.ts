import { anthropicError } from '../../http/anthropic-error.ts';
import { bodyEdits } from '../body-layout.ts';
import type { Format } from '../format.ts';
import { UsageMember } from '../usage-member.ts';
import { readMessagesAnswer } from './messages-answer.ts';
import { MessagesStream } from './messages-stream.ts';
import { readMessages } from './read-messages.ts';
import { readUsage } from './usage.ts';

const COMMON_MEMBERS = new Set([
  ...[
    'model',
    'messages',
    'system',
    'max_tokens',
    'stream',
    'stop_sequences',
    'temperature',
    'top_p',
    'top_k',
  ],
  ...['tools', 'tool_choice', 'thinking', 'metadata'],
]);

const CAP = ['max_tokens'] as const;

/** Anthropic's messages. */
export const messages: Format = {
  surface: 'messages',
  dialect: 'anthropic',
  commonMembers: COMMON_MEMBERS,
  readRequest: readMessages,
  upstreamEdits: (layout, target) => bodyEdits(layout, target, { known: CAP, sent: CAP }),
  readAnswer: readMessagesAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: (options) => new MessagesStream(options),
  streamError: (error, requestId) =>
    Buffer.from(`event: error\ndata: ${anthropicError(error, requestId)}\n\n`),
};
