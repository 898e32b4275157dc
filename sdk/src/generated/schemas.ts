// Generated from the contract by `npm run generate`; do not edit.

export interface Account {
  readonly user: Member;
  readonly organization: OrganizationReference;
}

export interface Member {
  readonly user_id: string;
  readonly email: string;
  readonly role: 'owner' | 'admin' | 'member';
  /** ISO 8601 with a numeric offset. */
  readonly joined_at: string;
}

export interface Message {
  readonly message: string;
}

export interface OrganizationReference {
  readonly id: string;
  readonly name: string;
}

export interface Project {
  readonly id: string;
  readonly name: string;
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
}

export interface RequestAttempt {
  readonly provider: string;
  readonly upstream_model: string;
  /**
   * The name of the provider's credential; `own` for the organisation's own key, empty if the provider
   * takes none.
   */
  readonly credential: string;
  readonly is_byok: 0 | 1;
  /** The provider's own; null if no answer began. */
  readonly status: number | null;
  /** Since the request began. In milliseconds. */
  readonly started_ms: number;
  /** Since the attempt began, like ttft_ms. In milliseconds. */
  readonly total_ms: number;
  /** In milliseconds. */
  readonly ttft_ms: number | null;
  readonly prompt_tokens: number | null;
  readonly tokens_generated: number;
  /** The request's cost is the sum over its attempts. In PKR. */
  readonly cost_pkr: number;
  readonly ending: 'served' | 'error_status' | 'unreachable' | 'timed_out' | 'broken' | 'error_event' | 'client_disconnect' | 'stopped';
  /** What went wrong, without credentials and addresses. */
  readonly error: string | null;
}

export interface RequestLogEntry {
  readonly req_id: string;
  readonly timestamp: string;
  readonly model: string;
  readonly status: number;
  readonly stream: boolean;
  readonly key: {
    readonly id: string;
    readonly name: string | null;
  } | null;
  readonly project: {
    readonly id: string;
    readonly name: string | null;
  } | null;
  readonly metrics: {
    /** In milliseconds. */
    readonly total_ms: number;
    /** In milliseconds. */
    readonly ttft_ms: number | null;
    /** In milliseconds. */
    readonly tpot_ms: number | null;
    /** In milliseconds. */
    readonly pre_dispatch_ms: number;
    readonly prompt_tokens: number | null;
    readonly tokens_generated: number;
    readonly cache_creation_input_tokens: number | null;
    readonly cache_read_input_tokens: number | null;
    readonly total_tokens: number;
    readonly tokens_estimated: boolean;
  };
  readonly financials: {
    /** In PKR. */
    readonly cost_pkr: number;
    readonly is_byok: 0 | 1;
  };
  readonly status_detail: {
    readonly termination_reason: 'success' | 'proxy_guillotine' | 'client_disconnect' | 'upstream_stream_aborted';
    readonly upstream_error: string | null;
  };
  readonly upstream: {
    readonly model: string;
  } | null;
  readonly user_agent: string;
  readonly metadata: { readonly [name: string]: string };
  /**
   * How many similar rejected requests of the key this row stands for; only present above 1. At least 2.
   */
  readonly request_count?: number;
}

export interface TimeseriesPoint {
  /** Start of the bucket, in UTC, without a zone. Matches `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`. */
  readonly bucket: string;
  /**
   * The id of the project or key, or the route id. unattributed: no known project or key, or rejected
   * before the model was read.
   */
  readonly group: string;
  readonly value: number;
}
