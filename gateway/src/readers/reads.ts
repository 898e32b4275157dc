import type { Surface } from '@gatehouse/contract';
import { type EchoRequest, readEcho } from '../demo/read-echo.ts';
import { type AnswerFacts, type AnswerForm, readAnswer } from '../protocols/read-answer.ts';
import { readRequest } from '../protocols/read-request.ts';
import type { RequestReading } from '../protocols/request-facts.ts';
import { type CallTranslation, type TranslatedCall, translateCall } from '../protocols/translate-call.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { rememberedCounts } from '../tokens/remembered-counts.ts';

/** What was read, and the body: the same bytes, those that take their place, or none where the body is refused. */
export interface ReadResult<Result> {
  readonly result: Result;
  readonly body: Buffer<ArrayBuffer>;
}

type Read<Input, Result> = (body: Buffer<ArrayBuffer>, input: Input) => Promise<ReadResult<Result>>;

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
  /** The tokens of texts; there is no body. */
  readonly tokens: Read<readonly string[], number>;
  /** What the echo answers, on a surface. */
  readonly echo: Read<Surface, EchoRequest>;
}

export const READS: Reads = {
  async request(body, { endpoint, owner }) {
    const result = await readRequest(endpoint, body, rememberedCounts.of(owner));
    return { result, body: result.kind === 'refused' ? nothing() : body };
  },
  translation: async (body, input) => translateCall(body, input),
  async answer(bytes, form) {
    const { result, body } = await readAnswer(bytes, form);
    return { result, body: result.isAnswer || form.status >= 400 ? body : nothing() };
  },
  tokens: async (body, texts) => ({ result: await countTokens(texts), body }),
  echo: async (body, surface) => ({ result: await readEcho(surface, body), body }),
};

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
}

export interface Reply {
  readonly result: ResultOf<ReadKind>;
  readonly body: ArrayBuffer;
}
