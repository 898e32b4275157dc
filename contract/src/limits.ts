// The figures that callers meet. Those that an operator can change are settings and have their default here.

export const ACCESS_TOKEN_SECONDS = 15 * 60;
export const REFRESH_TOKEN_SECONDS = 7 * 24 * 60 * 60;

/** The largest body that the API reads. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** Requests a minute of a new key. */
export const DEFAULT_RATE_LIMIT_RPM = 60;

/** The most requests a minute that a key may be given, unless the operator says otherwise. */
export const DEFAULT_RATE_LIMIT_CEILING_RPM = 6_000;

/** In code points, after trimming. */
export const MAX_NAME_LENGTH = 255;
export const MAX_EMAIL_LENGTH = 254;
export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 256;
export const MAX_ALLOWED_MODELS = 256;
export const MAX_ROUTE_ID_LENGTH = 200;
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
export const MAX_PROVIDER_KEY_LENGTH = 4_096;

/** The output cap of a request that names none, and the least that a cap is lowered to, unless the route says otherwise. */
export const DEFAULT_OUTPUT_TOKENS = 32_000;
export const DEFAULT_MIN_OUTPUT_TOKENS = 1_024;

export const ACCESS_COOKIE = 'svc_access_token';
export const REFRESH_COOKIE = 'svc_refresh_token';
