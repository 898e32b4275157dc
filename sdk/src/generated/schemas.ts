// Generated from the contract by `npm run generate`; do not edit.

export interface Account {
  readonly user: Member;
  readonly organization: OrganizationReference;
}

export interface ActivityEvent {
  readonly actor: string | null;
  readonly action: 'user.login' | 'user.logout' | 'api_key.created' | 'api_key.revoked' | 'api_key.updated' | 'api_key.rotated' | 'vault_key.set' | 'vault_key.revoked' | 'org.renamed' | 'member.joined' | 'budget.deposited' | 'spend_limit.created' | 'spend_limit.updated' | 'spend_limit.deleted' | 'alert_channel.created' | 'alert_channel.deleted' | 'org.created' | 'org.deleted' | 'member.removed' | 'member.role_changed' | 'member.deactivated' | 'member.activated' | 'project.renamed' | 'project.byok_fallback_enabled' | 'project.byok_fallback_disabled';
  readonly target: string;
  /** ISO 8601 with a numeric offset. */
  readonly timestamp: string;
  readonly source_ip: string;
}

export interface AlertChannel {
  readonly id: string;
  readonly kind: 'webhook' | 'email';
  /** The address of a webhook. */
  readonly url?: string;
  /** The address that e-mails go to. */
  readonly address?: string;
  readonly created_by: {
    readonly id: string;
    readonly email: string;
  } | null;
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
}

export interface AlertDelivery {
  /** The `webhook-id` of the message, the same in each attempt. */
  readonly id: string;
  readonly channel_id: string;
  readonly type: 'spend_limit.threshold_reached' | 'spend_limit.reached' | 'balance.low' | 'key.expiring' | 'alert.test';
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly last_error: string | null;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  /** `sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash. */
  readonly key_prefix: string;
  /** At least 1. */
  readonly rate_limit_rpm: number;
  /** ISO 8601 with a numeric offset. */
  readonly expires_at: string | null;
  /** Lifetime cap in micro-PKR; null: none. At least 1. */
  readonly credit_limit_cents: number | null;
  /** At least 1 entry. */
  readonly allowed_models: readonly string[] | null;
  readonly environment: 'production' | 'development' | 'testing';
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
  /** ISO 8601 with a numeric offset. */
  readonly last_used_at: string | null;
}

export interface KeyBudget {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly project: {
    readonly id: string;
    readonly name: string;
  };
  readonly unlimited: boolean;
  /** Null for a key without a limit. In PKR. */
  readonly credit_limit_pkr: number | null;
  /** In PKR. */
  readonly spent_pkr: number;
  /** In PKR. */
  readonly held_pkr: number;
}

export interface KeyUsage {
  readonly key: {
    readonly id: string;
    readonly name: string | null;
  };
  readonly project: {
    readonly id: string;
    readonly name: string | null;
  } | null;
  /** The current limit; null for a deleted key. */
  readonly rate_limit_rpm: number | null;
  readonly requests: number;
  /** Requests that the key's rate limit rejected. A provider's 429 does not count. */
  readonly throttled: number;
  /** Requests in the busiest clock minute. */
  readonly peak_rpm: number;
  readonly last_throttled_at: string | null;
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
  /** The error, without credentials and addresses. */
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

export interface RequestSession {
  /** The value of the metadata. */
  readonly session: string;
  readonly requests: number;
  /** Requests with an error_code. A caller that left early is not an error. */
  readonly errors: number;
  /** Tokens of every kind. */
  readonly tokens: number;
  /** Exact. In PKR. */
  readonly cost_pkr: number;
  /** When the first request in the window began. */
  readonly first_request_at: string;
  /** When the last request in the window began. */
  readonly last_request_at: string;
  /** From the start of the first request to the end of the last answer. In milliseconds. */
  readonly duration_ms: number;
  /**
   * The routes as the caller named them, the one with the most requests first; at most 10. At most 10
   * entries.
   */
  readonly models: readonly string[];
}

export interface Route {
  readonly id: string;
  /** Other names of the route. The allowed_models of a key take its id only. */
  readonly aliases: readonly string[];
  readonly provider: string;
  /**
   * The providers that it leads to and that take a key of the organisation (POST /vault/keys). With such
   * a key, requests use the account of the organisation and cost the fee.
   */
  readonly byok_providers: readonly string[];
  readonly active: boolean;
  readonly endpoints: readonly ('chat' | 'completions' | 'embeddings' | 'responses' | 'messages')[];
  /** In PKR. */
  readonly price_pkr_per_million: {
    /** PKR per million tokens. At least 0. */
    readonly input: number;
    /** PKR per million tokens. At least 0. */
    readonly output: number;
    /** PKR per million tokens. At least 0. */
    readonly cache_write: number;
    /** PKR per million tokens. At least 0. */
    readonly cache_read: number;
    /** PKR per million tokens that are cached for an hour. At least 0. */
    readonly cache_write_1h: number;
    /** The prices of longer prompts, ascending. The last tier that the prompt exceeds applies. */
    readonly tiers: readonly {
      readonly above_prompt_tokens: number;
      /** PKR per million tokens. At least 0. */
      readonly input: number;
      /** PKR per million tokens. At least 0. */
      readonly output: number;
      /** PKR per million tokens. At least 0. */
      readonly cache_write: number;
      /** PKR per million tokens. At least 0. */
      readonly cache_read: number;
      /** PKR per million tokens that are cached for an hour. At least 0. */
      readonly cache_write_1h: number;
    }[];
  };
  /** PKR per call of a hosted tool, by name, such as web_search. */
  readonly price_pkr_per_call: { readonly [name: string]: number };
}

export interface SpendLimit {
  readonly id: string;
  /** A `kind`, with the `id` of a project, key or member, or the `name` and `value` of metadata. */
  readonly scope: {
    readonly kind: 'organization';
  } | {
    readonly kind: 'project' | 'key' | 'member';
    readonly id: string;
  } | {
    readonly kind: 'metadata';
    readonly name: string;
    readonly value: string | null;
  };
  readonly window: 'hour' | 'day' | 'week' | 'month' | 'lifetime';
  readonly time_zone: string;
  /** In PKR. */
  readonly limit_pkr: number;
  readonly mode: 'refuse' | 'alert';
  readonly alert_at: readonly number[];
  /** The cost of finished requests of the window, settled or not. In PKR. */
  readonly spent_pkr: number;
  /** The amount that requests of the window hold that are in flight. In PKR. */
  readonly held_pkr: number;
  /** limit_pkr - spent_pkr - held_pkr, at least 0. In PKR. */
  readonly remaining_pkr: number;
  /** ISO 8601 with a numeric offset. */
  readonly window_started_at: string;
  /** Null for a lifetime. */
  readonly window_ends_at: string | null;
  /**
   * Only of a limit for each value of its metadata: those that spent most, at most 100. Null stands for
   * all values beyond the 10,000 that are told apart.
   */
  readonly values?: readonly {
    readonly value: string | null;
    /** The cost of finished requests of the window, settled or not. In PKR. */
    readonly spent_pkr: number;
    /** The amount that requests of the window hold that are in flight. In PKR. */
    readonly held_pkr: number;
    /** limit_pkr - spent_pkr - held_pkr, at least 0. In PKR. */
    readonly remaining_pkr: number;
  }[];
  readonly created_by: {
    readonly id: string;
    readonly email: string;
  } | null;
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
  /** ISO 8601 with a numeric offset. */
  readonly updated_at: string;
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

export interface TrendBuckets {
  readonly requests?: readonly number[];
  readonly rows?: readonly number[];
  readonly errors?: readonly number[];
  readonly tokens?: readonly number[];
  /** In PKR. */
  readonly cost_pkr?: readonly number[];
  /** In milliseconds. */
  readonly avg_total_ms?: readonly (number | null)[];
  /** In milliseconds. */
  readonly avg_ttft_ms?: readonly (number | null)[];
  readonly tokens_per_sec?: readonly (number | null)[];
  /** In milliseconds. */
  readonly total_ms?: {
    readonly p50: readonly (number | null)[];
    readonly p95: readonly (number | null)[];
  };
  /** In milliseconds. */
  readonly ttft_ms?: {
    readonly p50: readonly (number | null)[];
    readonly p95: readonly (number | null)[];
  };
}

export interface VaultKey {
  readonly provider: string;
  /** The last four characters; null for a key shorter than 12. 4 to 4 characters. */
  readonly key_hint: string | null;
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
  /** ISO 8601 with a numeric offset. */
  readonly updated_at: string;
}
