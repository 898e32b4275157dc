import type { ActivityAction, Endpoint, OrganizationId, Role, UserId } from '@gatehouse/contract';
import type { z } from 'zod';
import type { SessionCookies } from './cookies.ts';
import type { Recorder, RecorderFor } from './recorder.ts';

/** The session of a request, read from the database for that request. */
export interface Session {
  readonly id: string;
  readonly userId: UserId;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: string;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
}

/** A request as an endpoint sees it: parsed and checked. */
export interface Call<Query, Body> {
  readonly requestId: string;
  /** For display and the activity log only; see source-ip.ts. */
  readonly sourceIp: string;
  /** See Caller in caller.ts. */
  readonly network: string | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly cookies: SessionCookies;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  /** Aborts when the caller leaves before it has its answer. Nothing needs to be computed for it then. */
  readonly gone: AbortSignal;
  /** Records events in the activity log with the source address of this request. */
  readonly recorderFor: RecorderFor<ActivityAction>;
}

type PublicCall<E extends Endpoint> = Omit<Call<QueryOf<E>, BodyOf<E>>, 'recorderFor'> & {
  readonly recorderFor: RecorderFor<EventOf<E>>;
};

type SessionCall<E extends Endpoint> = Omit<Call<QueryOf<E>, BodyOf<E>>, 'recorderFor'> & {
  /** Records an event that the endpoint declares, as an act of the session's account. */
  readonly record: Recorder<EventOf<E>>;
};

export interface Reply<Body> {
  readonly body: Body;
  /** Whole `Set-Cookie` values. */
  readonly setCookies?: readonly string[];
  /** How long any cache may keep the reply. Left out: not at all. Never for a reply that depends on the caller. */
  readonly cacheSeconds?: number;
}

/**
 * A reply that is sent while it is read, for results of any size. Throw errors before returning it: after the first piece
 * a failure can only close the connection.
 */
export interface StreamedReply {
  /** Read no faster than the caller takes it, and no further once the caller has left. */
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The bytes of the answer in memory beside the piece that was read last. */
  readonly keptBytes?: () => number;
}

type QueryOf<E extends Endpoint> = z.output<E['query']>;
type BodyOf<E extends Endpoint> = E['body'] extends z.ZodObject ? z.output<E['body']> : undefined;
type EventOf<E extends Endpoint> = E['records'][number];
type ReplyOf<E extends Endpoint> = Promise<Reply<z.input<E['reply']>> | StreamedReply>;

/** An endpoint of the contract with its handler. */
export interface Implementation {
  readonly endpoint: Endpoint;
  /** True if a permit of the session's organisation is held while it is handled. */
  readonly holdsPermit: boolean;
  readonly handle: (
    call: Call<unknown, unknown>,
    session: Session | undefined,
  ) => Promise<Reply<Readonly<Record<string, unknown>>> | StreamedReply>;
}

/**
 * Implements an endpoint that needs a session. The handler holds a permit of the organisation until it returns. Handlers
 * that wait for more than the database set `holdsPermit` to false and take permits of their own.
 */
export function withSession<E extends Endpoint>(
  endpoint: E,
  handle: (call: SessionCall<E>, session: Session) => ReplyOf<E>,
  { holdsPermit = true }: { readonly holdsPermit?: boolean } = {},
): Implementation {
  if (endpoint.access !== 'session') throw new Error(`${endpoint.name} is public in the contract`);
  return {
    endpoint,
    holdsPermit,
    handle: (call, session) => {
      if (!session) throw new Error(`${endpoint.name} was reached without a session`);
      const { recorderFor, ...rest } = call as Call<QueryOf<E>, BodyOf<E>>;
      const record = recorderFor({ organizationId: session.organizationId, actorUserId: session.userId });
      return handle({ ...rest, record }, session);
    },
  };
}

/** Implements a public endpoint. */
export function withoutSession<E extends Endpoint>(
  endpoint: E,
  handle: (call: PublicCall<E>) => ReplyOf<E>,
): Implementation {
  if (endpoint.access !== 'public') throw new Error(`${endpoint.name} needs a session in the contract`);
  return { endpoint, holdsPermit: false, handle: (call) => handle(call as PublicCall<E>) };
}
