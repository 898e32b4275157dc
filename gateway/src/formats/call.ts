import type { Surface } from '@gatehouse/contract';
import type { BodyIssue } from '../errors/body-errors.ts';
import type { BodyLayout } from './body-layout.ts';
import type { OwnReference } from './responses/own-items.ts';

/** A caller's request, checked, with its body. */
export interface Call extends RequestFacts, Body {}

/** Bytes that are handed over. */
export interface Body {
  /** To be called once: no memory is kept of them here after that. */
  takeBody(): Buffer;
  /** The bytes, for another use while these are kept. */
  peekBody(): Buffer;
  /** Nothing needs them any more. */
  releaseBody(): void;
}

/** The call that a body is, by what was read from it. */
export function createCall(facts: RequestFacts, body: Buffer): Call {
  return { ...facts, ...createBody(body) };
}

export function createBody(bytes: Buffer): Body {
  let body: Buffer | undefined = bytes;
  const peekBody = () => {
    if (!body) throw new Error('the body was handed over before');
    return body;
  };
  const releaseBody = () => {
    body = undefined;
  };
  return {
    takeBody() {
      const taken = peekBody();
      releaseBody();
      return taken;
    },
    peekBody,
    releaseBody,
  };
}

// What is known of a request once its body was read. All of it is plain data, because a large body is read in another
// thread, and little of it: the parsed body is not kept.

export interface RequestFacts {
  /** The format of the body, which may be another than the endpoint's. */
  readonly format: Surface;
  readonly model: string;
  readonly isStream: boolean;
  /** Output tokens at most per choice, as far as the caller said. */
  readonly outputCap: number | undefined;
  /** The smallest output cap that the provider takes with the rest of the request, where there is one. */
  readonly leastOutputCap?: number;
  /** Answers asked for at once; 0 where nothing is generated. */
  readonly choices: number;
  /** True if the caller asked for usage in its stream. */
  readonly showsUsage: boolean;
  /** The prompt in tokens: texts by a tokenizer, frames and the rest by constants. */
  readonly promptTokens: number;
  /** The distinct types of message parts whose tokens cannot be counted, at most 8. */
  readonly uncountableParts: readonly string[];
  /** The members of the body. A value of more than 2 KiB of JSON is left out: its member is there, undefined. */
  readonly members: ReadonlyMap<string, unknown>;
  /** The distinct types of the tools, at most 32; empty for a tool without one. */
  readonly toolTypes: readonly string[];
  /** The members, at any depth, that name what a provider keeps for the account of a key; each once. */
  readonly references: readonly string[];
  /** How often tools may be used, by type: the sum of `max_uses`. Without the types of which one does not state it. */
  readonly toolLimits: ReadonlyMap<string, number>;
  /** Hosted tools among them that are only declared: where they are not part of the price, they can be left out. */
  readonly dispensableTools?: readonly string[];
  /** The items that this gateway keeps and that the body refers to; left out where there are none. */
  readonly ownReferences?: readonly OwnReference[];
  readonly layout: BodyLayout;
}

export type RequestReading =
  | { readonly kind: 'read'; readonly facts: RequestFacts }
  /** The model and the wish for a stream are there for the record, as far as they could be read. */
  | {
      readonly kind: 'refused';
      readonly issue: BodyIssue;
      readonly model: string;
      readonly isStream: boolean;
    };

/** Thrown while a body is read. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly issue: BodyIssue;

  constructor(message: string, param: string | null = null, status: BodyIssue['status'] = 400) {
    super(message);
    this.issue = { status, message, param };
  }
}
