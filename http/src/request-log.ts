/** The fields that the log has of every request, on either listener. */
export interface RequestLogFields {
  readonly request_id: string;
  /** The endpoint's name; undefined where no endpoint was found. */
  readonly operation: string | undefined;
  readonly method: string | undefined;
  /** Without the query, which may hold private data. Gateway keys in it are masked by the caller. */
  readonly path: string;
  /** Undefined where the caller left before a status was sent. */
  readonly status: number | undefined;
  /** Until the answer was sent or the caller left. */
  readonly ms: number;
}

const MAX_PATH_LENGTH = 200;

/** The one log line of a request: these fields, in this order, before the listener's own. */
export function requestLogFields(fields: RequestLogFields): RequestLogFields {
  return {
    ...fields,
    path: fields.path.slice(0, MAX_PATH_LENGTH),
    ms: Math.round(fields.ms * 1000) / 1000,
  };
}
