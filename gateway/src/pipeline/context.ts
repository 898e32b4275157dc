import type { Surface } from '@gatehouse/contract';
import type { ByteBlocks } from '../bodies/byte-blocks.ts';
import type { HeldBody } from '../bodies/held-body.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import type { Credential, Route, Target } from '../catalogue/route.ts';
import type { Presumed } from '../credit/queries.ts';
import type { Call } from '../formats/call.ts';
import type { Outgoing } from '../formats/outgoing.ts';
import type { BodyIssue } from '../formats/request-facts.ts';
import type { TranslationNotes } from '../formats/translation/index.ts';
import type { RateDecision } from '../rates/rate-limiter.ts';
import type {
  Candidate,
  PermittedCandidate,
  PricedCandidate,
  TranslatedCandidate,
} from '../routing/candidate.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { Outcome } from './outcome.ts';

/** The operations as the log calls them. */
export type Operation = ModelOperation | LookUpOperation | 'healthz' | 'readyz' | 'whatIsServed';

/** Operations that tell a caller about the gateway. */
type LookUpOperation = 'listModels' | 'showModel' | 'listModelInfo' | 'showKey';

/** Operations that call a model. */
export type ModelOperation = (typeof MODEL_OPERATIONS)[number];

export const MODEL_OPERATIONS = [
  'createChatCompletion',
  'createCompletion',
  'createEmbedding',
  'createResponse',
  'createMessage',
  'countMessageTokens',
] as const;

/**
 * The facts that the steps learn of a request. A step declares the fields that it needs and returns the fields that it adds. No field
 * changes once it is there.
 */
export interface Context {
  /** The endpoint that the caller called. */
  readonly endpoint: Surface;
  /** True if facts may be presumed, for the statement that admits the request to compare. */
  readonly mayPresume: boolean;
  /** How the key stood when a run on presumed facts counted the request; undefined where none did. */
  readonly countedRate: RateDecision | undefined;
  /** Why its body could not be read, when an earlier run of the steps tried. */
  readonly bodyError: unknown;
  readonly key: GatewayKey;
  readonly readWith: ReadWith;
  readonly rate: RateDecision;
  /** The share that the request body holds of the memory that all requests have in common. */
  readonly heldBody: HeldBody;
  readonly callersBody: ByteBlocks;
  /** As the caller sent it; empty where the body does not name it. */
  readonly model: string;
  readonly isStream: boolean;
  readonly parsedBody: ParsedBody;
  readonly call: Call;
  readonly route: Route;
  /** The versions to be compared on admission; undefined where nothing was presumed. */
  readonly presumed: Presumed | undefined;
  /** The candidates that may be tried, in this order. */
  readonly candidates: readonly Candidate[];
  readonly translated: readonly TranslatedCandidate[];
  readonly permitted: readonly PermittedCandidate[];
  /** Candidates that the credit set aside covers. */
  readonly admitted: readonly PricedCandidate[];
  /** The target that the request goes to: of the last attempt, and before the first that of the first candidate. */
  readonly target: Target;
  /** The call as it is sent on: the same, or in the format of the surface. */
  readonly providerCall: Call;
  /** The translation back, where the answer is translated. */
  readonly translation: Translation | undefined;
  readonly upstream: Upstream;
  /** The surface that the provider is asked for: the endpoint, or what it is translated to. */
  readonly surface: Surface;
  /** True if it goes out with the organisation's own key for the provider. Of the same attempt as `target`. */
  readonly isByok: boolean;
  /** The platform's credential that it goes out with; undefined for the organisation's own key, or when the provider takes none. */
  readonly credential: Credential | undefined;
  /** The organisation's own key for the provider, else the platform's; undefined when the provider takes none. */
  readonly apiKey: string | undefined;
  /** True if credit was set aside, or may have been. */
  readonly isHeld: boolean;
  readonly reservation: Reservation;
  /** The amount that was set aside. */
  readonly heldMicroPkr: bigint;
  /** Output tokens at most per choice, as sent to the provider. */
  readonly outputCap: number;
  /** The output cap, where it was lowered for want of credit. */
  readonly loweredOutputCap: number | undefined;
  /** The most tokens that the provider can have made of the prompt. */
  readonly mostPromptTokens: number;
  /** The types of hosted tools that are left out, because they are not part of the route's price. */
  readonly droppedTools: ReadonlySet<string>;
  readonly outgoing: Outgoing;
  readonly outcome: Outcome;
}

/**
 * The facts before the first step: none. With all fields there from the start an engine finds them at fixed places; an object to which
 * dozens are added one after the other becomes a table, which takes a hundred times as long to copy.
 */
export const NOTHING_LEARNED: { readonly [Field in keyof Context]: undefined } = {
  endpoint: undefined,
  mayPresume: undefined,
  countedRate: undefined,
  bodyError: undefined,
  key: undefined,
  readWith: undefined,
  rate: undefined,
  heldBody: undefined,
  callersBody: undefined,
  model: undefined,
  isStream: undefined,
  parsedBody: undefined,
  call: undefined,
  route: undefined,
  presumed: undefined,
  candidates: undefined,
  translated: undefined,
  permitted: undefined,
  admitted: undefined,
  target: undefined,
  providerCall: undefined,
  translation: undefined,
  upstream: undefined,
  surface: undefined,
  isByok: undefined,
  credential: undefined,
  apiKey: undefined,
  isHeld: undefined,
  reservation: undefined,
  heldMicroPkr: undefined,
  outputCap: undefined,
  loweredOutputCap: undefined,
  mostPromptTokens: undefined,
  droppedTools: undefined,
  outgoing: undefined,
  outcome: undefined,
};

/** The versions that the key was read with, and whether that was for an earlier request. */
export interface ReadWith extends Presumed {
  readonly isPresumed: boolean;
}

/** The facts of a request that a step may have refused. */
export type Learned = Partial<Context>;

export type ParsedBody =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'refused'; readonly issue: BodyIssue };

/** The losses on the way to the surface's format, and what the way back needs to know. */
export interface Translation {
  readonly dropped: readonly string[];
  readonly notes: TranslationNotes;
}

/** The credit that was set aside, or why none is known to be. */
export type Reservation = Granted | { readonly kind: 'failed'; readonly error: unknown };

export interface Granted extends Pick<Context, 'heldMicroPkr' | 'admitted'> {
  readonly kind: 'granted';
}
