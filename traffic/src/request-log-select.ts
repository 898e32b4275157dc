import { CHANCES, OUTCOME } from './outcomes.ts';

// The columns of a generated row, by the gateway's own rules (gateway/src/endpoints/record.ts). gateway-rules.test.ts checks
// generated rows against an independent statement of these rules.

const outcomes = (...names: (keyof typeof OUTCOME)[]) =>
  `outcome IN (${names.map((name) => OUTCOME[name]).join()})`;

const STATUS_OF_UPSTREAM = 'multiIf(part < 0.3, 429, part < 0.55, 400, part < 0.8, 500, 503)';
const SAID_BY_UPSTREAM = `multiIf(
  part < 0.3, 'Rate limit reached for requests. Please try again in 2s.',
  part < 0.55, concat('This model\\'s maximum context length is 128000 tokens. However, your messages resulted in ',
                      toString(128000 + whole_prompt), ' tokens.'),
  part < 0.8, 'The server had an error while processing your request. Sorry about that!',
  'The engine is currently overloaded, please try again later.')`;
const BROKEN_BY = `multiIf(detail < 0.4, 'the connection was refused', detail < 0.8, 'the connection broke', 'no connection could be made in time')`;
const ABORTED_BY = `if(detail < 0.6, 'the connection broke', 'the stream ended before the answer did')`;

// Summed first, divided once, rounded half up. The product has 128 bits, which is enough for every price and fee.
const PLATFORM_COST = 'intDiv(product + 500000, 1000000)';
const BYOK_FEE = 'intDiv(product * fee + 500000000000, 1000000000000)';
const COST = `if(is_metered, toInt64(if(uses_own_key, ${BYOK_FEE}, ${PLATFORM_COST})), 0)`;

const STATUS = `multiIf(${outcomes('expired')}, 401, ${outcomes('forbidden')}, 403, ${outcomes('unknownModel')}, 404,
    ${outcomes('invalid')}, 400, ${outcomes('throttled')}, 429, ${outcomes('outOfCredit')}, 402,
    ${outcomes('upstreamError')}, ${STATUS_OF_UPSTREAM}, ${outcomes('unreachable')}, 502, ${outcomes('timedOut')}, 504,
    ${outcomes('left')}, 499, 200)`;
const UPSTREAM_ERROR = `multiIf(${outcomes('upstreamError')}, ${SAID_BY_UPSTREAM}, ${outcomes('unreachable')}, ${BROKEN_BY},
    ${outcomes('timedOut', 'streamTimedOut')}, 'timed out', ${outcomes('streamAborted')}, ${ABORTED_BY}, NULL)`;

// The attempts, in the order of the members in store/src/clickhouse/request-attempts.ts.
const PROVIDER = `splitByChar('/', model_id)[1]`;
const PRE_DISPATCH = 'round(before_dispatch, 3)';
const IS_RETRIED = `${outcomes('answered')} AND NOT uses_own_key AND retried_by < ${CHANCES.retried}`;
// How long the first call took that failed: part of the time until the answer began.
const FAILED_MS = 'round(0.3 * (if(has_first_token, first_token_ms, total) - before_dispatch), 3)';
const LAST_STARTED = 'round(before_dispatch + if(is_retried, failed_ms, 0), 3)';

/** The rows with what several columns are made of. Each is a column of its own stage, so that the engine reads its expression once. */
export function callRows(measured: string): string {
  const called = `
    SELECT *, ${PROVIDER} AS called_provider, ${STATUS} AS answered_status, ${UPSTREAM_ERROR} AS upstream_said, ${COST} AS cost,
      ${PRE_DISPATCH} AS sent_ms, ${IS_RETRIED} AS is_retried, ${FAILED_MS} AS failed_ms
    FROM (${measured}) AS measured`;
  return `SELECT *, ${LAST_STARTED} AS last_started FROM (${called}) AS called`;
}

const FAILED_ATTEMPT = `(called_provider, upstream, 'default', 0, toNullable(toUInt16(if(part < 0.5, 503, 429))), sent_ms, failed_ms,
    CAST(NULL, 'Nullable(Float64)'), CAST(NULL, 'Nullable(UInt32)'), toUInt32(0), '0', 'error_status',
    toNullable(if(part < 0.5, 'The engine is currently overloaded, please try again later.', 'Rate limit reached for requests. Please try again in 2s.')))`;
const LAST_ATTEMPT = `(called_provider, upstream, multiIf(uses_own_key, 'own', is_retried, 'second', 'default'), uses_own_key,
    if(${outcomes('unreachable', 'timedOut', 'left')}, NULL, toUInt16(answered_status)), last_started, round(total - last_started, 3),
    if(has_first_token, round(first_token_ms - last_started, 3), NULL), if(is_metered, toUInt32(plain_prompt), NULL), toUInt32(output),
    toString(cost),
    multiIf(${outcomes('upstreamError')}, 'error_status', ${outcomes('unreachable')}, 'unreachable',
      ${outcomes('timedOut', 'streamTimedOut')}, 'timed_out', ${outcomes('streamAborted')}, 'broken',
      ${outcomes('left', 'leftStream')}, 'client_disconnect', 'served'),
    upstream_said)`;

// The streams of a key within twenty minutes are one conversation.
const SESSION = `concat('ses_', lower(hex(intHash64(key * 1000003 + intDiv(micros, 1200000000)))))`;

export const REQUEST_LOG_SELECT = {
  organization_id: 'organization',
  timestamp: `fromUnixTimestamp64Micro(micros, 'UTC')`,
  // A UUIDv7 with the row's millisecond.
  request_id: `toString(reinterpretAsUUID(bitOr(
    bitShiftLeft(toUInt128(bitOr(bitAnd(low_bits, 0x3fffffffffffffff), 0x8000000000000000)), 64),
    toUInt128(bitOr(bitShiftLeft(toUInt64(intDiv(micros, 1000)), 16), 0x7000 + high_bits % 4096)))))`,
  key_id: 'key_uuid',
  project_id: 'project',
  model: `multiIf(${outcomes('expired')}, '', ${outcomes('unknownModel')}, concat(model_id, '-preview'),
    ${outcomes('forbidden')}, 'openai/o9-pro', model_id)`,
  status: 'answered_status',
  stream: 'is_stream',
  total_ms: 'total',
  ttft_ms: 'if(has_first_token, first_token_ms, NULL)',
  tpot_ms: 'if(has_first_token, round((total - first_token_ms) / if(output > 1, output - 1, 1), 3), NULL)',
  pre_dispatch_ms: 'if(is_refused, total, sent_ms)',
  prompt_tokens: 'if(is_metered, plain_prompt, NULL)',
  tokens_generated: 'output',
  cache_creation_input_tokens: 'if(knows_cache_write, cache_write, NULL)',
  cache_read_input_tokens: 'if(knows_cache_read, cache_read, NULL)',
  total_tokens: 'if(is_metered, whole_prompt + output, 0)',
  tokens_estimated: 'is_estimated',
  cost_micro_pkr: 'cost',
  is_byok: 'uses_own_key',
  termination_reason: `multiIf(${outcomes('unreachable', 'streamAborted')}, 'upstream_stream_aborted',
    ${outcomes('timedOut', 'streamTimedOut')}, 'proxy_guillotine', ${outcomes('leftStream', 'left')}, 'client_disconnect', 'success')`,
  refusal: `multiIf(${outcomes('expired')}, 'key_expired', ${outcomes('forbidden')}, 'model_not_allowed',
    ${outcomes('unknownModel')}, 'model_not_found', ${outcomes('invalid')}, 'invalid_request',
    ${outcomes('throttled')}, 'rate_limit_exceeded',
    ${outcomes('outOfCredit')}, if(uses_own_key OR part < 0.7, 'key_credit_exhausted', 'budget_exhausted'),
    ${outcomes('unreachable')}, 'upstream_error', ${outcomes('timedOut')}, 'upstream_timeout', '')`,
  upstream_error: 'upstream_said',
  upstream_model: `if(${outcomes('expired', 'forbidden', 'unknownModel', 'invalid')}, NULL, upstream)`,
  user_agent: `if(agent_by < 0.92, agent, if(agent_by < 0.97, 'OpenAI/Python 1.109.1', 'curl/8.14.1'))`,
  metadata: `if(labelled_by < labelled_share AND NOT is_refused,
    mapConcat(map('team', team, 'feature', feature, 'customer', concat('cus_', leftPad(toString(1 + toUInt32(pow(customer_by, 2.5) * 4000)), 5, '0'))),
      if(wants_stream, map('session-id', ${SESSION}), map())),
    map())`,
  attempts: `multiIf(is_refused, '', is_retried, toJSONString([${FAILED_ATTEMPT}, ${LAST_ATTEMPT}]), toJSONString([${LAST_ATTEMPT}]))`,
} as const;
