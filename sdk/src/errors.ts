/** One thing that is wrong with an input, as the API lists it. */
export interface Issue {
  /** The path of the field: `["body", "name"]`, `["query", "limit"]`, `["header", "idempotency-key"]`. */
  readonly loc: readonly (string | number)[];
  /** A sentence for people: what was wrong and what is accepted. */
  readonly msg: string;
  /** The kind of issue, for programs. */
  readonly type: string;
}

export interface ErrorReply {
  /** The name of the call: `createKey`. */
  readonly call: string;
  readonly status: number;
  readonly message: string;
  readonly issues?: readonly Issue[];
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly hint?: string | undefined;
  /** The body: parsed where it was JSON, else its text. */
  readonly body: unknown;
}

/** The API answered with an error. `message` is its sentence. */
export class GatehouseError extends Error {
  override readonly name: string = 'GatehouseError';
  /** The name of the call: `createKey`. */
  readonly call: string;
  /** The HTTP status. */
  readonly status: number;
  /** The issues of the input, field by field; empty unless the API lists it. */
  readonly issues: readonly Issue[];
  /** The id of the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** How long to wait before a retry, where the API says so. */
  readonly retryAfterSeconds: number | undefined;
  /** Why the session cookies cannot work, where the API says so. */
  readonly hint: string | undefined;
  /** The body: parsed where it was JSON, else its text. */
  readonly body: unknown;

  constructor(reply: ErrorReply) {
    super(reply.message);
    this.call = reply.call;
    this.status = reply.status;
    this.issues = reply.issues ?? [];
    this.requestId = reply.requestId;
    this.retryAfterSeconds = reply.retryAfterSeconds;
    this.hint = reply.hint;
    this.body = reply.body;
  }
}

/**
 * Something else than the API answered, or an API of another version: a proxy's page of HTML, a redirect, a reply without
 * the fields that this client knows.
 */
export class GatehouseReplyError extends GatehouseError {
  override readonly name: string = 'GatehouseReplyError';
}

/** No answer, or only a part of one: the service is unreachable, the connection broke, the time was up. */
export class GatehouseConnectionError extends Error {
  override readonly name: string = 'GatehouseConnectionError';
  /** The name of the call: `createKey`. */
  readonly call: string;

  constructor(call: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.call = call;
  }
}
