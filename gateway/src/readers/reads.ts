import type { Surface } from '@gatehouse/contract';
import { ownMemory } from '../bodies/byte-blocks.ts';
import { LARGE_ECHO, SMALL_ECHO } from '../demo/echo-bounds.ts';
import { type EchoRequest, readEcho } from '../demo/read-echo.ts';
import type { RequestReading } from '../formats/call.ts';
import type { CountTokens } from '../formats/protocol.ts';
import { type AnswerFacts, type AnswerForm, readAnswer } from '../formats/read-answer.ts';
import { readRequest } from '../formats/read-request.ts';
import { type CallTranslation, type TranslatedCall, translateCall } from '../formats/translate-call.ts';
import type { CountTime } from '../tokens/count-time.ts';
import { countFor } from '../tokens/count-tokens.ts';
import { rememberedCounts } from '../tokens/remembered-counts.ts';

/** The result, and the body: the same bytes, those that take their place, or none where the body is refused. */
export interface ReadResult<Result> {
  readonly result: Result;
  readonly body: Buffer<ArrayBuffer>;
}

/** A result whose tokens are counted as far as there was time. */
export interface PartialResult<Result> extends ReadResult<Result> {
  /** The texts that are not counted yet, as a body of `tokens`. */
  readonly rest: Uint8Array<ArrayBuffer> | undefined;
}

/** Undefined where it is more work than the main thread does. */
type Read<Input, Result> = (
  body: Buffer<ArrayBuffer>,
  input: Input,
  /** Counts the tokens of a request or an answer, or what of them there is time for. */
  count: CountTokens,
  isMainThread: boolean,
) => Promise<ReadResult<Result> | undefined>;

/** The kinds of reading, by name: so a thread can be told what to do. */
export interface Reads {
  readonly request: Read<{ readonly endpoint: Surface }, RequestReading>;
  /** A request for a provider of another format. */
  readonly translation: Read<CallTranslation, TranslatedCall>;
  /** A provider's whole answer. */
  readonly answer: Read<AnswerForm, AnswerFacts>;
  /** The tokens of the texts that are the body. */
  readonly tokens: Read<undefined, number>;
  /** The answer of the echo, on a surface. */
  readonly echo: Read<Surface, EchoRequest>;
}

export const READS: Reads = {
  async request(body, { endpoint }, count) {
    const result = await readRequest(endpoint, body, count);
    return { result, body: result.kind === 'refused' ? nothing() : body };
  },
  translation: async (body, input) => translateCall(body, input),
  async answer(bytes, form, count) {
    const { result, body } = await readAnswer(bytes, form, count);
    return { result, body: result.isAnswer || form.status >= 400 ? body : nothing() };
  },
  tokens: async (body, _, count) => ({ result: await count(textsIn(body)), body: nothing() }),
  async echo(body, surface, count, isMainThread) {
    const read = await readEcho(surface, body, count, isMainThread ? SMALL_ECHO : LARGE_ECHO);
    return read && { result: read.result, body: read.vectors ? Buffer.from(read.vectors.buffer) : nothing() };
  },
};

/**
 * Reads a body in this thread, and counts tokens while there is time. Undefined where it is more work than the main thread does: the
 * body is as it was, and is to be read in another thread.
 */
export async function readPart<Kind extends ReadKind>(
  { kind, input, owner }: { readonly kind: Kind; readonly input: InputOf<Kind>; readonly owner: string },
  body: Buffer<ArrayBuffer>,
  time: CountTime,
  isMainThread: boolean,
): Promise<PartialResult<ResultOf<Kind>> | undefined> {
  const read = READS[kind] as Read<InputOf<Kind>, ResultOf<Kind>>;
  let rest: readonly string[] = [];
  const count: CountTokens = async (texts) => {
    const counted = countFor(time, texts, rememberedCounts.of(owner));
    rest = counted.rest;
    return counted.tokens;
  };
  const result = await read(body, input, count, isMainThread);
  return result && { ...result, rest: rest.length > 0 ? bodyOf(rest) : undefined };
}

/** Texts as a body: its memory is moved to a thread, and is not on a heap. JSON, since a text may hold half a character. */
export function bodyOf(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  return ownMemory(Buffer.from(JSON.stringify(texts)));
}

export function textsIn({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): readonly string[] {
  return JSON.parse(Buffer.from(buffer, byteOffset, length).toString());
}

/** The result with the tokens that were counted later. */
export function withTokens<Result extends ResultOf<ReadKind>>(result: Result, tokens: number): Result {
  if (typeof result !== 'object') return result;
  if ('generatedTokens' in result) return { ...result, generatedTokens: result.generatedTokens + tokens };
  if ('promptTokens' in result) return { ...result, promptTokens: result.promptTokens + tokens };
  if (!('facts' in result)) return result;
  const { facts } = result;
  return { ...result, facts: { ...facts, promptTokens: facts.promptTokens + tokens } };
}

/** In place of a body that nobody gets: its memory is not moved back for nothing. */
function nothing(): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(0));
}

export type ReadKind = keyof Reads;
export type InputOf<Kind extends ReadKind> = Parameters<Reads[Kind]>[1];
export type ResultOf<Kind extends ReadKind> = NonNullable<Awaited<ReturnType<Reads[Kind]>>>['result'];

/** Sent to a reader thread. The memory of the blocks is moved, and comes back as the body of the reply. */
export interface Assignment {
  readonly kind: ReadKind;
  readonly input: InputOf<ReadKind>;
  /** Whose body it is: the counts of an organisation's texts are remembered. */
  readonly owner: string;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  /** For how long tokens are counted, in processor time. */
  readonly countMs: number;
}

export interface Reply {
  readonly result: ResultOf<ReadKind>;
  readonly body: ArrayBuffer;
  readonly rest: Uint8Array<ArrayBuffer> | undefined;
}
