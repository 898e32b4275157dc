import type { Route } from '@gatehouse/sdk';

/** The route that answers without a provider. */
const DEMO = 'demo/echo';

/** A model that the organisation can call at once: the demo's, else the first that takes part in a chat. */
export function firstModel(routes: readonly Route[]): string {
  const usable = routes.filter(({ active, endpoints }) => active && endpoints.includes('chat'));
  return usable.find(({ id }) => id === DEMO)?.id ?? usable[0]?.id ?? DEMO;
}

/** The request as a command for a POSIX shell. A route id comes from the operator's catalogue; quotes in it end no argument. */
export function firstCurl(gateway: string, key: string | undefined, model: string): string {
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Hello, Gatehouse!' }],
  }).replaceAll("'", "'\\''");
  return [
    `curl ${gateway}/v1/chat/completions \\`,
    `  -H 'authorization: Bearer ${key ?? 'YOUR_KEY'}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
