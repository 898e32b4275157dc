import { chat } from '../protocols/openai/chat.ts';
import type { Call } from '../protocols/protocol.ts';
import { readRequest } from '../protocols/read-request.ts';

/** Makes chat calls of this body, or of this JSON text; throws when it is refused. */
export async function chatCalls(body: object | string): Promise<() => Call> {
  const bytes = Buffer.from(
    typeof body === 'string' ? body : JSON.stringify({ model: 'mock/model', ...body }),
  );
  const reading = await readRequest(chat.endpoint, bytes);
  if (reading.kind === 'refused') throw new Error(reading.issue.message);
  return () => chat.callOf(reading.facts, bytes);
}
