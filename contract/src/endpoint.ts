import { z } from 'zod';
import type { ActivityAction } from './events.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export const ROLES = ['owner', 'admin', 'member'] as const;

/** The role of an account in its organisation. */
export type Role = (typeof ROLES)[number];

/** The callers that are admitted: anyone, or only an account with a live session. */
export type Access = 'public' | 'session';

/** A format besides JSON that a caller can request with `Accept`. */
export type ExportType = 'text/csv' | 'application/x-ndjson';

/** An error of an endpoint beyond those that all endpoints share, and when it occurs. */
export interface ErrorCase {
  readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 503;
  readonly body: 'error' | 'detail' | 'unauthorized';
  readonly when: string;
}

/**
 * One endpoint, as a value: the server parses requests with it, the tests check replies with it, the OpenAPI document is
 * generated from it. `path` is relative to `/api`.
 */
export interface Endpoint<
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject | undefined = z.ZodObject | undefined,
  Reply extends z.ZodObject = z.ZodObject,
  Event extends ActivityAction = ActivityAction,
> {
  /** Also the OpenAPI operation id, the file name and the operation in the log. */
  readonly name: string;
  readonly section:
    | 'service'
    | 'auth'
    | 'organization'
    | 'catalogue'
    | 'keys'
    | 'limits'
    | 'alerts'
    | 'vault'
    | 'analytics'
    | 'activity';
  readonly method: Method;
  readonly path: `/${string}`;
  readonly access: Access;
  /** The roles that may call; undefined for all. Checked before anything of the request is read. */
  readonly roles: readonly Role[] | undefined;
  readonly summary: string;
  readonly query: Query;
  /** The request headers that this endpoint reads, by lower-case name. */
  readonly headers: z.ZodObject;
  /** Undefined where the endpoint ignores the body. */
  readonly body: Body;
  readonly reply: Reply;
  readonly status: 200 | 201 | 202;
  /** The other formats of the reply, for callers whose `Accept` prefers one; see `preferredType`. */
  readonly exports: readonly ExportType[];
  /** True if the reply sets or clears the session cookies. */
  readonly setsCookies: boolean;
  readonly errors: readonly ErrorCase[];
  /** The events that a success can record in the activity log; its code can record no others. */
  readonly records: readonly Event[];
}

type Declaration<
  Query extends z.ZodObject,
  Body extends z.ZodObject | undefined,
  Reply extends z.ZodObject,
  Event extends ActivityAction,
> = Pick<Endpoint, 'name' | 'section' | 'method' | 'path' | 'summary'> &
  Partial<
    Pick<Endpoint, 'access' | 'roles' | 'headers' | 'status' | 'exports' | 'setsCookies' | 'errors'>
  > & {
    readonly query?: Query;
    readonly body?: Body;
    readonly reply: Reply;
    readonly records?: readonly Event[];
  };

/** Declares an endpoint. Defaults: session required, no query, no headers, no body, 200, JSON only, no events. */
export function endpoint<
  Reply extends z.ZodObject,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodObject | undefined = undefined,
  Event extends ActivityAction = never,
>(declaration: Declaration<Query, Body, Reply, Event>): Endpoint<Query, Body, Reply, Event> {
  return {
    access: 'session',
    roles: undefined,
    headers: nothing,
    status: 200,
    exports: [],
    setsCookies: false,
    errors: [],
    records: [],
    ...declaration,
    query: declaration.query ?? (nothing as unknown as Query),
    body: declaration.body as Body,
  };
}

const nothing = z.object({});

/** True if a request without a body means one without members. */
export function mayLackBody({ method, body }: Endpoint): boolean {
  return method === 'POST' && body?.safeParse({}).success === true;
}

/** The parameters of a path, in order: `['key_id']` for `/keys/{key_id}`. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
}
