import { isUtf8 } from 'node:buffer';
import { countTokens } from '../tokens/count-tokens.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { readChat } from './openai/read-chat.ts';
import { BodyError, type RequestFacts, type RequestReading } from './request-facts.ts';
import { type MemberSpan, type ScanLimits, scanJson } from './scan-json.ts';

// Reading a body is a pure function from its bytes to facts. It runs on the main thread for
// a small body, and in a reader thread for a large one.

// A value costs many times its bytes once it is parsed (ten million "{}" made a gigabyte of 31 MB), so the values are
// bounded and not only the bytes: no body was found that takes more than 60 bytes for each byte of structure, 24 MB at
// this limit. The largest honest request is one of 300,000 tokens as numbers; an agent's with hundreds of tools has a
// tenth of that.
const LIMITS: ScanLimits = { depth: 256, structure: 400_000, members: 256 };
const LARGEST_MEMBER_BYTES = 2048;

/** A body that was parsed, with the places of its members. */
export interface ParsedBody {
  readonly value: JsonObject;
  readonly bytes: Buffer;
  readonly spans: ReadonlyMap<string, MemberSpan>;
  readonly spanList: readonly MemberSpan[];
}

/** What an endpoint reads from a body, with the texts that are still to be counted. */
export interface EndpointReading {
  readonly facts: Omit<RequestFacts, 'model' | 'members' | 'promptTokens'>;
  readonly overheadTokens: number;
  readonly texts: readonly string[];
}

/** Reads a body for one endpoint. Throws a BodyError that names the member which is wrong. */
export type EndpointReader = (body: ParsedBody) => EndpointReading;

const READERS: Readonly<Record<string, EndpointReader>> = { chat: readChat };

/** All that the gateway needs to know of a body sent to this endpoint, or why it is refused. */
export async function readRequest(endpoint: string, bytes: Buffer): Promise<RequestReading> {
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
  endpoint: string,
  bytes: Buffer,
  noted: { model: string; isStream: boolean },
): Omit<EndpointReading, 'facts'> & { readonly facts: Omit<RequestFacts, 'promptTokens'> } {
  const reader = READERS[endpoint];
  if (!reader) throw new Error(`no reader for the endpoint ${endpoint}`);
  const body = parse(bytes);
  noted.isStream = body.value['stream'] === true;
  const model = body.value['model'];
  if (typeof model !== 'string' || model === '') throw new BodyError('model must name a model.', 'model');
  noted.model = model;
  const { facts, overheadTokens, texts } = reader(body);
  return { facts: { ...facts, model, members: smallMembers(body) }, overheadTokens, texts };
}

function parse(bytes: Buffer): ParsedBody {
  if (!isUtf8(bytes)) throw new BodyError('The body must be UTF-8.');
  const scan = scanJson(bytes, LIMITS);
  if (scan === 'structure') {
    const message = `The body has more than ${LIMITS.structure} brackets, commas and colons.`;
    throw new BodyError(message, null, 413);
  }
  if (scan === 'depth') throw new BodyError(`The body is nested deeper than ${LIMITS.depth} levels.`);
  if (scan === 'members') throw new BodyError(`The body has more than ${LIMITS.members} members.`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new BodyError('The body is not valid JSON.');
  }
  if (!isJsonObject(value)) throw new BodyError('The body must be a JSON object.');
  return { value, bytes, spans: byName(bytes, scan.members), spanList: scan.members };
}

/**
 * The members by their names. Of two with one name this gateway would judge the last, and a provider might take the
 * first: so no name may occur twice.
 */
function byName(bytes: Buffer, spans: readonly MemberSpan[]): ReadonlyMap<string, MemberSpan> {
  const named = new Map<string, MemberSpan>();
  for (const span of spans) {
    const name = JSON.parse(bytes.toString('utf8', span.keyStart, span.keyEnd)) as string;
    if (named.has(name)) throw new BodyError(`${shortened(name)} occurs twice.`, shortened(name));
    named.set(name, span);
  }
  return named;
}

function smallMembers({ value, spans }: ParsedBody): ReadonlyMap<string, unknown> {
  return new Map(
    Array.from(spans, ([name, { valueStart, valueEnd }]) => [
      name,
      valueEnd - valueStart <= LARGEST_MEMBER_BYTES ? value[name] : undefined,
    ]),
  );
}

function shortened(name: string): string {
  return name.slice(0, 64).toWellFormed();
}
