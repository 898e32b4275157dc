import type { Surface } from '@gatehouse/contract';
import { type EchoRequest, readEcho } from '../demo/read-echo.ts';
import { type AnswerFacts, type AnswerForm, readAnswer } from '../protocols/read-answer.ts';
import { readRequest } from '../protocols/read-request.ts';
import type { RequestReading } from '../protocols/request-facts.ts';
import { type CallTranslation, type TranslatedCall, translateCall } from '../protocols/translate-call.ts';
import { rememberedCounts } from '../tokens/remembered-counts.ts';
import { countFurther, PartialCounter, type UncountedTexts, uncounted } from '../tokens/uncounted-texts.ts';

/** What was read, and the body: the same bytes, those that take their place, or none where the body is refused. */
export interface ReadResult<Result> {
  readonly result: Result;
  readonly body: Buffer<ArrayBuffer>;
}

/** A result whose tokens are counted as far as there was time. */
export interface PartialResult<Result> extends ReadResult<Result> {
  readonly uncounted?: UncountedTexts | undefined;
  /** How long tokens were counted, in milliseconds. */
  readonly countedMs?: number;
}

type Read<Input, Result> = (
  body: Buffer<ArrayBuffer>,
  input: Input,
  /** After so many milliseconds, counting tokens stops. */
  countMs: number,
) => Promise<PartialResult<Result>>;

/** What a body was sent to, and whose it is: the counts of an organisation's texts are remembered. */
export interface RequestOrigin {
  readonly endpoint: Surface;
  readonly owner: string;
}

/** Everything that is read from bytes, on the main thread or in a reader thread: pure functions to plain data. */
export interface Reads {
  /** A request body, for an endpoint. */
  readonly request: Read<RequestOrigin, RequestReading>;
  /** A request body, to be put into another format. */
  readonly translation: Read<CallTranslation, TranslatedCall>;
  /** A provider's whole answer. */
  readonly answer: Read<AnswerForm, AnswerFacts>;
  /** Further tokens of texts, which are the body. */
  readonly tokens: Read<Omit<UncountedTexts, 'bytes'> & Pick<RequestOrigin, 'owner'>, FurtherCount>;
  /** What the echo answers, on a surface. */
  readonly echo: Read<Surface, EchoRequest>;
}

export const READS: Reads = {
  async request(body, { endpoint, owner }, countMs) {
    const counter = new PartialCounter(countMs, rememberedCounts.of(owner));
    const result = await readRequest(endpoint, body, counter.count);
    return {
      result,
      body: result.kind === 'refused' ? nothing() : body,
      uncounted: uncounted(counter.rest),
      countedMs: counter.tookMs,
    };
  },
  translation: async (body, input) => translateCall(body, input),
  async answer(bytes, form, countMs) {
    const counter = new PartialCounter(countMs);
    const { result, body } = await readAnswer(bytes, form, counter.count);
    return {
      result,
      body: result.isAnswer || form.status >= 400 ? body : nothing(),
      uncounted: uncounted(counter.rest),
      countedMs: counter.tookMs,
    };
  },
  tokens: async (body, { owner, ...texts }, countMs) => ({
    result: await countFurther(countMs, body, texts, rememberedCounts.of(owner)),
    body,
  }),
  echo: async (body, surface) => ({ result: await readEcho(surface, body), body }),
};

interface FurtherCount {
  readonly tokens: number;
  readonly counted: number;
}

/** The result with the tokens that were counted later. */
export function withTokens<Result extends ResultOf<ReadKind>>(result: Result, tokens: number): Result {
  if (typeof result !== 'object') return result;
  if ('generatedTokens' in result) return { ...result, generatedTokens: result.generatedTokens + tokens };
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
export type ResultOf<Kind extends ReadKind> = Awaited<ReturnType<Reads[Kind]>>['result'];

/** Sent to a reader thread. The memory of the blocks is moved, and comes back as the body of the reply. */
export interface Assignment {
  readonly kind: ReadKind;
  readonly input: InputOf<ReadKind>;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly countMs: number;
}

export interface Reply {
  readonly result: ResultOf<ReadKind>;
  readonly body: ArrayBuffer;
  readonly uncounted: (Omit<UncountedTexts, 'bytes'> & { readonly bytes: ArrayBuffer }) | undefined;
}
