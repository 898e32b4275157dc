import type { Surface } from '@gatehouse/contract';
import type { ByteBlocks } from '../bodies/byte-blocks.ts';
import type { HeldBody } from '../bodies/held-body.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import type { Route } from '../catalogue/route.ts';
import type { Presumed } from '../credit/queries.ts';
import type { Call } from '../formats/call.ts';
import type { Outgoing } from '../formats/outgoing.ts';
import type { RateDecision } from '../rates/rate-limiter.ts';
import type {
  Candidate,
  PermittedCandidate,
  PricedCandidate,
  TranslatedCandidate,
} from '../routing/candidate.ts';
import type { Outcome } from './outcome.ts';

/** The operations as the log calls them. */
export type Operation = ModelOperation | LookUpOperation | 'healthz' | 'readyz' | 'whatIsServed' | 'describe';

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
  /** Why its body cannot be used, when an earlier run of the steps tried. */
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
  /** The target that the request goes to, and whose key with it: of the last attempt, and before the first as far as it is known. */
  readonly chosen: Chosen;
  /** True if credit was set aside, or may have been. */
  readonly isHeld: boolean;
  /** The amount that was set aside. */
  readonly heldMicroPkr: bigint;
  /** The windows of spend limits that it was admitted in; undefined where there are none. */
  readonly windowIds: string | undefined;
  /** The caller's own labels of the request, and those of its client. */
  readonly labels: ReadonlyMap<string, string>;
  /** The request as it went out last. */
  readonly sent: Sent;
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
  call: undefined,
  route: undefined,
  presumed: undefined,
  candidates: undefined,
  translated: undefined,
  permitted: undefined,
  admitted: undefined,
  chosen: undefined,
  isHeld: undefined,
  heldMicroPkr: undefined,
  windowIds: undefined,
  labels: undefined,
  sent: undefined,
  outcome: undefined,
};

/** The versions that the key was read with, and whether that was for an earlier request. */
export interface ReadWith extends Presumed {
  readonly isPresumed: boolean;
}

/** The facts of a request that a step may have refused. */
export type Learned = Partial<Context>;

/** The facts of a candidate that the record of a request has. */
export type Chosen = Pick<Candidate, 'target' | 'isByok'> & Partial<Pick<Candidate, 'credential'>>;

/** A request as it goes to one provider. */
export interface Sent {
  readonly candidate: PermittedCandidate;
  /** Output tokens at most per choice, as sent to the provider. */
  readonly outputCap: number;
  /** The output cap, where it was lowered for want of credit. */
  readonly loweredOutputCap: number | undefined;
  /** The most tokens that the provider can have made of the prompt. */
  readonly mostPromptTokens: number;
  readonly outgoing: Outgoing;
}
