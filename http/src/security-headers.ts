// On every answer, errors included.
const COMMON: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** For a listener that a browser talks to: nothing is framed, sniffed, or loaded from elsewhere. */
export const BROWSER_SECURITY_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'content-security-policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** For a listener that only programs talk to: a browser loads and shows nothing of it. */
export const API_SECURITY_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
