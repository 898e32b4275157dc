import type { Protocol } from '../protocol.ts';
import { readChatCall } from './chat-call.ts';

/** OpenAI's chat completions. */
export const chat: Protocol = {
  endpoint: 'chat',
  providers: ['openai', 'demo'],
  upstreamPath: '/chat/completions',
  readCall: readChatCall,
  streamError: (refusal) => Buffer.from(`data: ${refusal.toBody()}\n\n`),
};
