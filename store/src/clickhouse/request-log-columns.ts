import type { analytics } from '@gatehouse/contract';
import type { Attempt } from './request-attempts.ts';

/**
 * The columns of `request_log`: the one list from which follow the type of a row, the journal's lines, the insert, the
 * select, the JSON and CSV of the API, and a test against the engine's own list. A new column is an entry here, a
 * migration, and the code that computes its value.
 */
interface Column {
  readonly name: string;
  readonly kind: RequestLogKind;
  /** Null means unknown, never 0. */
  readonly isNullable?: true;
  /** The value of the column when a row or a journal line leaves it out. The API leaves it out then, too. */
  readonly absent?: number;
  /** The member of the API's JSON that has it. Rows and journal lines only, if undefined. */
  readonly api?: RequestLogPath;
  /** The value in a row that stands for several requests; if undefined, they have the same or the first one's counts. */
  readonly counted?: CountedRule;
  /** The column of the CSV; the last part of `api` if undefined. */
  readonly csv?: string;
}

/** Empty unless all have the same model; the latest; true if it is of every one; their mean. */
export type CountedRule = 'ofOneModel' | 'latest' | 'every' | 'mean';

/** Each kind of value: its type in a row that is written, and in a row that a query returns. */
export interface RequestLogKinds {
  readonly uuid: { readonly written: string; readonly read: string };
  readonly requestId: { readonly written: string; readonly read: string };
  /** The id of a key or project. The API adds the name. */
  readonly reference: { readonly written: string; readonly read: string };
  readonly text: { readonly written: string; readonly read: string };
  readonly termination: {
    readonly written: analytics.TerminationReason;
    readonly read: analytics.TerminationReason;
  };
  /** A map when written, so that a caller's `__proto__` is a name like any other. */
  readonly labels: {
    readonly written: ReadonlyMap<string, string>;
    readonly read: Readonly<Record<string, string>>;
  };
  /** The attempts at providers. Not part of an entry of the list. */
  readonly attempts: { readonly written: readonly Attempt[]; readonly read: string };
  readonly boolean: { readonly written: boolean; readonly read: boolean };
  /** A boolean that the API gives as 0 or 1. */
  readonly flag: { readonly written: boolean; readonly read: 0 | 1 };
  readonly status: { readonly written: number; readonly read: number };
  /** Returned as text, because 64 bits exceed a JSON number. */
  readonly count: { readonly written: number; readonly read: string };
  readonly requests: { readonly written: number; readonly read: number };
  readonly milliseconds: { readonly written: number; readonly read: number };
  readonly microPkr: { readonly written: bigint; readonly read: string };
  /** Microseconds since the epoch, before the year 2100. */
  readonly instant: { readonly written: bigint; readonly read: string };
}
export type RequestLogKind = keyof RequestLogKinds;

// In the order of the API's JSON and CSV. The fields are the members of a journal line, and segments on disk have them:
// never rename one.
export const REQUEST_LOG_COLUMNS = {
  organizationId: { name: 'organization_id', kind: 'uuid' },
  /** The key under which the ledger and telemetry recognise a repeat: a UUID, new for every request. */
  requestId: { name: 'request_id', kind: 'requestId', api: 'req_id' },
  /** Start of the request. */
  startedAtMicros: { name: 'timestamp', kind: 'instant', api: 'timestamp', counted: 'latest' },
  model: { name: 'model', kind: 'text', api: 'model', counted: 'ofOneModel' },
  status: { name: 'status', kind: 'status', api: 'status' },
  isStream: { name: 'stream', kind: 'boolean', api: 'stream', counted: 'every' },
  /** Null where rejected requests of several keys are counted together. */
  keyId: { name: 'key_id', kind: 'reference', isNullable: true, api: 'key' },
  projectId: { name: 'project_id', kind: 'reference', isNullable: true, api: 'project' },
  totalMs: { name: 'total_ms', kind: 'milliseconds', api: 'metrics.total_ms', counted: 'mean' },
  ttftMs: { name: 'ttft_ms', kind: 'milliseconds', isNullable: true, api: 'metrics.ttft_ms' },
  tpotMs: { name: 'tpot_ms', kind: 'milliseconds', isNullable: true, api: 'metrics.tpot_ms' },
  preDispatchMs: {
    name: 'pre_dispatch_ms',
    kind: 'milliseconds',
    api: 'metrics.pre_dispatch_ms',
    counted: 'mean',
  },
  promptTokens: { name: 'prompt_tokens', kind: 'count', isNullable: true, api: 'metrics.prompt_tokens' },
  tokensGenerated: { name: 'tokens_generated', kind: 'count', api: 'metrics.tokens_generated' },
  cacheCreationInputTokens: {
    name: 'cache_creation_input_tokens',
    kind: 'count',
    isNullable: true,
    api: 'metrics.cache_creation_input_tokens',
  },
  cacheReadInputTokens: {
    name: 'cache_read_input_tokens',
    kind: 'count',
    isNullable: true,
    api: 'metrics.cache_read_input_tokens',
  },
  totalTokens: { name: 'total_tokens', kind: 'count', api: 'metrics.total_tokens' },
  tokensEstimated: { name: 'tokens_estimated', kind: 'boolean', api: 'metrics.tokens_estimated' },
  costMicroPkr: { name: 'cost_micro_pkr', kind: 'microPkr', api: 'financials.cost_pkr' },
  isByok: { name: 'is_byok', kind: 'flag', api: 'financials.is_byok' },
  terminationReason: {
    name: 'termination_reason',
    kind: 'termination',
    api: 'status_detail.termination_reason',
  },
  /** The gateway's own error code, such as `rate_limit_exceeded`; empty for a request that was served. */
  refusal: { name: 'refusal', kind: 'text' },
  upstreamError: {
    name: 'upstream_error',
    kind: 'text',
    isNullable: true,
    api: 'status_detail.upstream_error',
  },
  upstreamModel: {
    name: 'upstream_model',
    kind: 'text',
    isNullable: true,
    api: 'upstream.model',
    csv: 'upstream_model',
    counted: 'ofOneModel',
  },
  userAgent: { name: 'user_agent', kind: 'text', api: 'user_agent' },
  metadata: { name: 'metadata', kind: 'labels', api: 'metadata' },
  /** How many requests the row stands for, all rejected by the gateway. */
  requestCount: { name: 'request_count', kind: 'requests', absent: 1, api: 'request_count' },
  /** In the order of time; empty for a request that was not sent to a provider. */
  attempts: { name: 'attempts', kind: 'attempts' },
} as const satisfies Readonly<Record<string, Column>>;

type Columns = typeof REQUEST_LOG_COLUMNS;
export type RequestLogField = keyof Columns;
type OrNull<C> = C extends { readonly isNullable: true } ? null : never;
type Written<C extends Column> = RequestLogKinds[C['kind']]['written'] | OrNull<C>;

/** A row as it is written: one request, or several that the gateway rejected. */
export type RequestLogRow = {
  readonly [F in RequestLogField as Columns[F] extends { readonly absent: number } ? never : F]: Written<
    Columns[F]
  >;
} & {
  readonly [F in RequestLogField as Columns[F] extends { readonly absent: number } ? F : never]?: Written<
    Columns[F]
  >;
};

export interface RequestLogColumn extends Column {
  readonly field: RequestLogField;
}

export const requestLogColumns: readonly RequestLogColumn[] = Object.entries<Column>(REQUEST_LOG_COLUMNS).map(
  ([field, column]) => ({ ...column, field: field as RequestLogField }),
);

// An alias must not be the name of a column: the engine would use it in the conditions too.
type ReadName<C extends Column> = C extends { readonly kind: 'instant' } ? `${C['name']}_micros` : C['name'];
type ReadNameIfShown<C extends Column> = C extends { readonly api: string } ? ReadName<C> : never;

/** A row as a SELECT of `requestLogSelect` returns it. */
export type StoredRequest = {
  readonly [F in RequestLogField as ReadNameIfShown<Columns[F]>]:
    | RequestLogKinds[Columns[F]['kind']]['read']
    | OrNull<Columns[F]>;
};

/** A column that the API shows. */
export interface ShownRequestLogColumn extends RequestLogColumn {
  readonly api: RequestLogPath;
  /** The member of a StoredRequest. */
  readonly read: keyof StoredRequest;
}

export const shownRequestLogColumns: readonly ShownRequestLogColumn[] = requestLogColumns.flatMap((column) =>
  column.api === undefined
    ? []
    : {
        ...column,
        api: column.api,
        read: (column.kind === 'instant' ? `${column.name}_micros` : column.name) as keyof StoredRequest,
      },
);

/** The list of a SELECT that returns StoredRequest. */
export const requestLogSelect = shownRequestLogColumns
  .map(({ name, kind, read }) =>
    kind === 'instant' ? `toString(toUnixTimestamp64Micro(${name})) AS ${read}` : name,
  )
  .join(', ');

// Every member of the API's entry has a column, and every `api` above is such a member: both are compile errors if not.
type Entry = (typeof analytics.RequestLogEntry)['_output'];
type PathsOf<T> = {
  [K in keyof T & string]: NonNullable<T[K]> extends { readonly id: string }
    ? K
    : string extends keyof NonNullable<T[K]>
      ? K
      : NonNullable<T[K]> extends object
        ? `${K}.${keyof NonNullable<T[K]> & string}`
        : K;
}[keyof T & string];
type RequestLogPath = PathsOf<Required<Entry>>;
type Shown = Extract<Columns[RequestLogField], { readonly api: string }>['api'];
const _everyMemberHasAColumn: [Exclude<RequestLogPath, Shown>] extends [never] ? true : never = true;
void _everyMemberHasAColumn;
