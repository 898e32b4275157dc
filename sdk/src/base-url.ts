/** The address of the API without a final slash. Throws for what cannot be one. */
export function readBaseUrl(text: string): string {
  const isRelative = /^\/(?!\/)/.test(text);
  // Node 20 has no URL.parse.
  const url = URL.canParse(text, isRelative ? 'http://localhost' : undefined)
    ? new URL(text, isRelative ? 'http://localhost' : undefined)
    : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`baseUrl must be an http or https address: ${text}`);
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('baseUrl must not have a user, a query or a fragment.');
  const path = url.pathname.replace(/\/+$/, '');
  return isRelative ? path : url.origin + path;
}
