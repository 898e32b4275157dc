import type { Protocol } from '../protocol.ts';
import { chatCall } from './chat-call.ts';

/** OpenAI's chat completions. */
export const chat: Protocol = {
  endpoint: 'chat',
  providers: ['openai', 'demo'],
  upstreamPath: '/chat/completions',
  callOf: chatCall,
  streamError: (refusal) => Buffer.from(`data: ${refusal.bodyText}\n\n`),
};
