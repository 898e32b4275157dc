// The page loads scripts, styles and fonts from here and talks to this API; nothing runs that is not one of its files,
// and no code can put text into a place where it would run. Guarded by serve-dashboard.http.test.ts and, in a browser,
// by tests/dashboard.
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The page of the API's reference, which the dashboard leaves alone. */
export const REFERENCE_PATH = '/reference';
