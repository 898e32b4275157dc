import type { Surface } from '@gatehouse/contract';
import { type EchoRequest, readEcho } from '../demo/read-echo.ts';
import { type AnswerFacts, type AnswerForm, readAnswer } from '../protocols/read-answer.ts';
import { readRequest } from '../protocols/read-request.ts';
import type { RequestReading } from '../protocols/request-facts.ts';
import { type CallTranslation, type TranslatedCall, translateCall } from '../protocols/translate-call.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { rememberedCounts } from '../tokens/remembered-counts.ts';

/** What was read, and the body: the same bytes, or those that take their place. */
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
  request: async (body, { endpoint, owner }) => ({
    result: await readRequest(endpoint, body, rememberedCounts.of(owner)),
    body,
  }),
  translation: async (body, input) => translateCall(body, input),
  answer: readAnswer,
  tokens: async (body, texts) => ({ result: await countTokens(texts), body }),
  echo: async (body, surface) => ({ result: await readEcho(surface, body), body }),
};

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
