import { chat } from './openai/chat.ts';

const PROTOCOLS = [chat];

/** Whether this gateway can serve a route with these endpoints, at a provider that speaks this protocol. */
export function canServe({
  protocol,
  endpoints,
}: {
  readonly protocol: string;
  readonly endpoints: readonly string[];
}): boolean {
  return PROTOCOLS.some(
    ({ endpoint, providers }) => endpoints.includes(endpoint) && providers.includes(protocol),
  );
}
