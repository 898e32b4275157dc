import type { Surface } from '@gatehouse/contract';
import type { UpstreamTarget } from '../formats/body-layout.ts';
import { type Call, createCall } from '../formats/call.ts';
import { formatOf } from '../formats/formats.ts';
import { readRequest } from '../formats/read-request.ts';
import { splice } from '../wire/splice.ts';

/** Makes calls of the endpoint with this body, or this JSON text; throws when it is refused. */
export async function callsOf(endpoint: Surface, body: object | string): Promise<() => Call> {
  const bytes = Buffer.from(
    typeof body === 'string' ? body : JSON.stringify({ model: 'mock/model', ...body }),
  );
  const reading = await readRequest(endpoint, bytes);
  if (reading.kind === 'refused') throw new Error(reading.issue.message);
  return () => createCall(reading.facts, bytes);
}

/** The body that a provider gets for a call of its own surface. */
export function upstreamBody(surface: Surface, call: Call, target: Partial<UpstreamTarget>): string {
  const whole: UpstreamTarget = {
    upstreamModel: 'up',
    outputCap: undefined,
    outputLimit: 'max_tokens',
    asksForUsage: true,
    removed: new Set(),
    ...target,
  };
  return splice(call.takeBody(), formatOf(surface).upstreamEdits(call.layout, whole)).toString();
}
