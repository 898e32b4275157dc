/** One call of the API, as the client sends it. */
export interface Call {
  /** The name of the method, and of the operation in the API's documentation. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the address of the API, with the inputs that go there in braces: `/keys/{key_id}`. */
  readonly path: string;
  /** The inputs that go into the query. */
  readonly query: readonly string[];
  /** The inputs that go into headers, each with the name of its header. */
  readonly headers: Readonly<Record<string, string>>;
  /** The inputs that go into the body; undefined for a call without a body. */
  readonly body: readonly string[] | undefined;
  readonly needsSession: boolean;
  /** True if the reply sets or clears the cookies of the session. */
  readonly setsCookies: boolean;
  /** The formats of the reply besides JSON. */
  readonly exports: readonly string[];
  /** The fields that every reply has. */
  readonly reply: readonly string[];
}

/** The options of a call besides its input. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** How long the whole call may take, in milliseconds; the client's own by default. */
  readonly timeoutMs?: number | undefined;
}
