import type { Surface } from '@gatehouse/contract';
import { countTokens } from '../tokens/count-tokens.ts';
import type { JsonScan } from '../wire/scan-json.ts';
import { BodyError, type RequestFacts, type RequestReading } from './call.ts';
import type { EndpointReading } from './format.ts';
import { formatOf } from './formats.ts';
import { toolLimitsOf } from './member-table.ts';
import { type ParsedBody, parseBody, surveyBody } from './parse-body.ts';
import type { CountTokens } from './protocol.ts';

// Reading a body is a pure function from its bytes to facts. It runs on the main thread for
// a small body, and in a reader thread for a large one.

const MAX_MEMBER_BYTES = 2048;

/**
 * All that the gateway needs to know of a body sent to this endpoint, or why it is refused. Its prompt has as many tokens as
 * `count` says, which may count the rest later.
 */
export async function readRequest(
  endpoint: Surface,
  bytes: Buffer,
  count: CountTokens = countTokens,
): Promise<RequestReading> {
  const noted = { model: '', isStream: false };
  try {
    const { facts, overheadTokens, texts } = understand(endpoint, bytes, noted);
    const tokens = await count(texts);
    return { kind: 'read', facts: { ...facts, promptTokens: overheadTokens + tokens } };
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
): Facts & { readonly facts: Pick<RequestFacts, 'references'> } {
  const body = parseBody(bytes);
  const { model } = body.value;
  noted.isStream = body.value['stream'] === true;
  if (typeof model === 'string') noted.model = model;
  const references = surveyBody(body);
  const reading = readFacts(formatOfBody(endpoint, body), body);
  const overheadTokens = overheadOf(reading, body.scan);
  return { ...reading, facts: { ...reading.facts, references }, overheadTokens };
}

const STRUCTURE_PER_TOKEN = 2;
const FREE_STRUCTURE = 64;
/** A text has at least one token for so many characters, except for blanks. */
const CHARACTERS_PER_TOKEN = 16;

/**
 * The tokens beside those of the texts. A provider is also sent what holds the texts together: a list of a million empty parts
 * is no short prompt. In any ordinary body the tokens of messages and texts are more than that.
 */
function overheadOf(
  { overheadTokens, texts }: Pick<EndpointReading, 'overheadTokens' | 'texts'>,
  { structure, excessDigits }: JsonScan,
): number {
  let characters = 0;
  for (const text of texts) characters += text.length;
  const least = (structure - FREE_STRUCTURE) / STRUCTURE_PER_TOKEN - characters / CHARACTERS_PER_TOKEN;
  return Math.max(overheadTokens, Math.floor(least)) + excessDigits;
}

/** Some clients post the body of a response to the path of chat completions, and want a chat completion back. */
function formatOfBody(endpoint: Surface, { value }: ParsedBody): Surface {
  const isResponse = endpoint === 'chat' && value['messages'] === undefined && value['input'] !== undefined;
  return isResponse ? 'responses' : endpoint;
}

interface Facts extends Omit<EndpointReading, 'facts'> {
  readonly facts: Omit<RequestFacts, 'promptTokens' | 'references'>;
}

/** Reads the facts of a body in this format. Throws a BodyError that names the member which is wrong. */
export function readFacts(format: Surface, body: ParsedBody): Facts {
  const { model, tools } = body.value;
  if (typeof model !== 'string' || model === '') throw new BodyError('model must name a model.', 'model');
  const { facts, overheadTokens, texts } = formatOf(format).readRequest(body);
  const members = smallMembers(body);
  return {
    facts: { ...facts, format, model, members, toolLimits: toolLimitsOf(tools) },
    overheadTokens,
    texts,
  };
}

function smallMembers({ value, spans }: ParsedBody): ReadonlyMap<string, unknown> {
  return new Map(
    Array.from(spans, ([name, { valueStart, valueEnd }]) => [
      name,
      valueEnd - valueStart <= MAX_MEMBER_BYTES ? value[name] : undefined,
    ]),
  );
}
