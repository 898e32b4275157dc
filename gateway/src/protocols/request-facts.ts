import type { MemberSpan } from './scan-json.ts';
import type { Edit } from './splice.ts';

// What is known of a request once its body was read. All of it is plain data, because a large body is read in another
// thread, and little of it: the parsed body is not kept.

export interface RequestFacts {
  readonly model: string;
  readonly isStream: boolean;
  /** Output tokens at most per choice, as far as the caller said. */
  readonly outputCap: number | undefined;
  /** Answers asked for at once. */
  readonly choices: number;
  /** Whether the caller asked for usage in its stream. */
  readonly showsUsage: boolean;
  /** The prompt in tokens: texts by a tokenizer, frames and the rest by constants. */
  readonly promptTokens: number;
  /** The distinct types of message parts whose tokens cannot be counted, at most 8. */
  readonly uncountableParts: readonly string[];
  /** The members of the body. A value of more than 2 KiB of JSON is left out: its member is there, undefined. */
  readonly members: ReadonlyMap<string, unknown>;
  /** The distinct types of the tools, at most 32; empty for a tool without one. */
  readonly toolTypes: readonly string[];
  readonly layout: BodyLayout;
}

/** A member of the body, with what must go for the member to be gone, its comma included. */
export interface MemberPlace extends MemberSpan {
  readonly removalStart: number;
  readonly removalEnd: number;
}

/** Where the body is changed on its way to the provider. */
export interface BodyLayout {
  readonly model: MemberPlace;
  /** The output caps that the body names, null ones too. */
  readonly caps: { readonly [Name in CapName]?: MemberPlace };
  /** What makes a stream report its usage; none when it already does, or for no stream. */
  readonly usageEdits: readonly Edit[];
}

export type CapName = 'max_tokens' | 'max_completion_tokens';

/** Why a body cannot be used. */
export interface BodyIssue {
  readonly status: 400 | 413;
  readonly message: string;
  readonly param: string | null;
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
