// Limits that callers can reach. Where an operator can change one, this is the default of the setting.

export const ACCESS_TOKEN_SECONDS = 15 * 60;
export const REFRESH_TOKEN_SECONDS = 7 * 24 * 60 * 60;

/** The largest request body that the API accepts. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** The rate limit of a new key, in requests per minute. */
export const DEFAULT_RATE_LIMIT_RPM = 60;

/** The highest rate limit that a key may have, in requests per minute; an operator can change it. */
export const DEFAULT_RATE_LIMIT_CEILING_RPM = 6_000;

/** How many keys that are not revoked an organisation may have; an operator can change it. */
export const DEFAULT_KEYS_PER_ORGANIZATION = 10_000;

/** In code points, after trimming. */
export const MAX_NAME_LENGTH = 255;
export const MAX_EMAIL_LENGTH = 254;
export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 256;
export const MAX_ALLOWED_MODELS = 256;
export const MAX_ROUTE_ID_LENGTH = 200;
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
export const MAX_PROVIDER_KEY_LENGTH = 4_096;

/** The output cap of a request that names none, and the lowest that a cap is reduced to; a route can change both. */
const DEFAULT_OUTPUT_TOKENS = 32_000;
const DEFAULT_MIN_OUTPUT_TOKENS = 1_024;

/** The output caps of a route, in tokens: of a request that names none, and below which none is lowered. Null is what a catalogue leaves out. */
export function outputCapsOf(most: number, usual: number | null, least: number | null) {
  return {
    usual: usual ?? Math.min(DEFAULT_OUTPUT_TOKENS, most),
    least: least ?? Math.min(DEFAULT_MIN_OUTPUT_TOKENS, most),
  };
}

/** The groups that a report lists, and the buckets that a report over time has. */
export const MAX_GROUPS = 100;
export const MAX_BUCKETS = 2_500;
/** Buckets times series of a trend: what its reply, and with quantiles the memory of its query, is bounded by. */
export const MAX_TREND_CELLS = 50_000;
export const MAX_TREND_QUANTILE_CELLS = 5_000;
/** Sessions beyond this are found by a search or in a shorter window. */
export const MAX_SESSION_OFFSET = 10_000;
export const MAX_SESSION_MODELS = 10;
/** The names of metadata that the gateway stores, in characters. */
export const MAX_METADATA_NAME_LENGTH = 64;
/** And their values. */
export const MAX_METADATA_VALUE_BYTES = 1024;

/** How many spend limits an organisation may have: each is looked at for each of its requests. */
export const MAX_SPEND_LIMITS = 200;

/** The places that an organisation may send alerts to, and the tests that it may send within 10 minutes. */
export const MAX_ALERT_CHANNELS = 10;
export const MAX_ALERT_TESTS = 10;
export const MAX_URL_LENGTH = 2_048;

export const ACCESS_COOKIE = 'svc_access_token';
export const REFRESH_COOKIE = 'svc_refresh_token';
