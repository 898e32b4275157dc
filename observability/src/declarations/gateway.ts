import { counter, gauge, histogram } from '../declaration.ts';

// From a look-up of the models to an answer that takes ten minutes.
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const FIRST_TOKEN_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60];
// The gateway's own part: a fraction of a millisecond on a quiet machine.
const ADDED_SECONDS = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export const gatewayMetrics = {
  requests: counter('gatehouse_gateway_requests_total', {
    labels: ['operation', 'model', 'status', 'refusal'],
    unit: 'requests',
    meaning:
      'Answered requests. `operation` is the endpoint, as in the log; `model` the id of the route, `other` for an unknown name, empty for none; `status` the answer (499: the caller left first); `refusal` the code of the gateway’s own error, else empty, also for a provider’s errors.',
    alert: 'the share of status 5xx with a `refusal`; any `internal_error`',
  }),
  requestSeconds: histogram('gatehouse_gateway_request_duration_seconds', REQUEST_SECONDS, {
    labels: ['operation'],
    unit: 'seconds',
    meaning: 'From the headers of a request to the end of its answer, or until the caller left.',
  }),
  firstTokenSeconds: histogram('gatehouse_gateway_first_token_seconds', FIRST_TOKEN_SECONDS, {
    labels: ['model'],
    unit: 'seconds',
    meaning: 'From the headers of a request to the first content of its stream.',
    alert: 'a 95th percentile above what your users accept',
  }),
  addedSeconds: histogram('gatehouse_gateway_added_seconds', ADDED_SECONDS, {
    labels: ['operation'],
    unit: 'seconds',
    meaning:
      'What the gateway adds to a request: its time before the first attempt and after the last, with that in which a caller sends its body.',
    alert: 'a 99th percentile above 50 ms',
  }),
  inFlight: gauge('gatehouse_gateway_requests_in_flight', {
    unit: 'requests',
    meaning: 'Requests in flight.',
  }),
  tokens: counter('gatehouse_gateway_tokens_total', {
    labels: ['model', 'kind'],
    unit: 'tokens',
    meaning:
      'Tokens of recorded requests. `kind`: `prompt`, `completion`, and with an own provider key `cache_read` and `cache_write`.',
  }),
  cost: counter('gatehouse_gateway_cost_pkr_total', {
    labels: ['model'],
    unit: 'PKR',
    meaning: 'What recorded requests cost, in floating point; the ledger is exact.',
    alert: 'far above the same hour of the week before',
  }),
  creditRefusals: counter('gatehouse_gateway_credit_refusals_total', {
    labels: ['reason'],
    unit: 'requests',
    meaning:
      'Requests refused for money. `reason`: `budget_exhausted` (the organisation), `key_credit_exhausted`, `spend_limit_reached` or `credit_held` (by requests in flight).',
  }),
  ratesShared: gauge('gatehouse_rates_shared', {
    unit: '0 or 1',
    meaning:
      '1 while rates are counted by the rate keeper or in Redis; 0 while the process cannot reach it and enforces its share. No series where it counts alone.',
    alert: '0 for a minute',
  }),
  bodyBytes: gauge('gatehouse_gateway_body_bytes', {
    unit: 'bytes',
    meaning: 'Memory of bodies and answers in flight.',
  }),
  attempts: counter('gatehouse_upstream_attempts_total', {
    labels: ['provider', 'ending'],
    unit: 'attempts',
    meaning:
      'Attempts at a provider. `ending`: `served`, `error_status`, `request_error` (a status about the request, such as 400), `error_event`, `unreachable`, `timed_out`, `broken`, `client_disconnect` or `stopped`.',
    alert: 'the share of a provider’s attempts that are not `served`, `request_error` or `client_disconnect`',
  }),
  attemptSeconds: histogram('gatehouse_upstream_attempt_duration_seconds', REQUEST_SECONDS, {
    labels: ['provider'],
    unit: 'seconds',
    meaning: 'Duration of an attempt at a provider.',
  }),
  upstreamState: gauge('gatehouse_upstream_breaker_state', {
    labels: ['provider', 'upstream_model', 'surface', 'credential'],
    unit: 'state',
    meaning:
      'The breaker of a provider’s model and surface with a credential of the platform: 0 closed, 1 half open, 2 open, for all organisations or some. No series before it first opens.',
    alert: '2 for more than five minutes',
  }),
};

export const journalMetrics = {
  pendingRecords: gauge('gatehouse_journal_pending_records', {
    labels: ['sink'],
    unit: 'records',
    meaning: 'Finished requests that a sink (`ledger` or `telemetry`) does not have yet.',
  }),
  pendingBytes: gauge('gatehouse_journal_pending_bytes', {
    labels: ['sink'],
    unit: 'bytes',
    meaning: 'Bytes of the journal’s segments that a sink still needs.',
  }),
  pendingSegments: gauge('gatehouse_journal_pending_segments', {
    labels: ['sink'],
    unit: 'segments',
    meaning: 'Segments that a sink still needs, the open one included.',
  }),
  oldestSeconds: gauge('gatehouse_journal_oldest_record_seconds', {
    labels: ['sink'],
    unit: 'seconds',
    meaning: 'Age of the oldest record that a sink may not have yet; 0 where it has all.',
    alert: 'more than a minute for `ledger`, more than five for `telemetry`',
  }),
  failing: gauge('gatehouse_journal_sink_failing', {
    labels: ['sink'],
    unit: '0 or 1',
    meaning: '1 while shipping to the sink fails.',
  }),
  shipmentFailures: counter('gatehouse_journal_shipment_failures_total', {
    labels: ['sink'],
    unit: 'attempts',
    meaning: 'Attempts to ship that failed.',
  }),
  appended: counter('gatehouse_journal_appended_total', {
    unit: 'records',
    meaning: 'Records written to the journal.',
  }),
  appendFailures: counter('gatehouse_journal_append_failures_total', {
    unit: 'records',
    meaning: 'Records that could not be written; their answers were not delivered.',
    alert: 'any',
  }),
  deadLetters: counter('gatehouse_journal_dead_letters_total', {
    unit: 'records',
    meaning: 'Records that telemetry rejected for their content. Analytics lack them.',
    alert: 'any',
  }),
  unreadable: gauge('gatehouse_journal_unreadable', {
    unit: 'files',
    meaning:
      'Directories and segments of dead processes that cannot be recovered. Their cost is not settled.',
    alert: 'any',
  }),
  hasRoom: gauge('gatehouse_journal_has_room', {
    unit: '0 or 1',
    meaning: '0 while the disk is nearly full and new requests get 503.',
    alert: '0',
  }),
};
