import type { Surface } from '@gatehouse/contract';
import { countTokens } from '../tokens/count-tokens.ts';
import type { EndpointReading } from './format.ts';
import { formatOf } from './formats.ts';
import { toolLimitsOf } from './members.ts';
import { type ParsedBody, parseBody } from './parse-body.ts';
import { BodyError, type RequestFacts, type RequestReading } from './request-facts.ts';

// Reading a body is a pure function from its bytes to facts. It runs on the main thread for
// a small body, and in a reader thread for a large one.

const LARGEST_MEMBER_BYTES = 2048;

/** All that the gateway needs to know of a body sent to this endpoint, or why it is refused. */
export async function readRequest(endpoint: Surface, bytes: Buffer): Promise<RequestReading> {
  const noted = { model: '', isStream: false };
  try {
    const { facts, overheadTokens, texts } = understand(endpoint, bytes, noted);
    return { kind: 'read', facts: { ...facts, promptTokens: overheadTokens + (await countTokens(texts)) } };
  } catch (error) {
    if (error instanceof BodyError) return { kind: 'refused', issue: error.issue, ...noted };
    throw error;
  }
}

// The parsed body does not outlive this function.
function understand(
  endpoint: Surface,
  bytes: Buffer,
  noted: { model: string; isStream: boolean },
): Omit<EndpointReading, 'facts'> & { readonly facts: Omit<RequestFacts, 'promptTokens'> } {
  const body = parseBody(bytes);
  noted.isStream = body.value['stream'] === true;
  const model = body.value['model'];
  if (typeof model !== 'string' || model === '') throw new BodyError('model must name a model.', 'model');
  noted.model = model;
  const { facts, overheadTokens, texts } = formatOf(endpoint).readRequest(body);
  const toolLimits = toolLimitsOf(body.value['tools']);
  return { facts: { ...facts, model, members: smallMembers(body), toolLimits }, overheadTokens, texts };
}

function smallMembers({ value, spans }: ParsedBody): ReadonlyMap<string, unknown> {
  return new Map(
    Array.from(spans, ([name, { valueStart, valueEnd }]) => [
      name,
      valueEnd - valueStart <= LARGEST_MEMBER_BYTES ? value[name] : undefined,
    ]),
  );
}
