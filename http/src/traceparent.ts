import type { IncomingHttpHeaders } from 'node:http';

// A header of version 00 has 55 characters; a later version may have more.
const LONGEST = 256;

/** The W3C trace context of a request, not yet parsed; undefined where it has none. Repeated headers are none. */
export function traceparentOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  return typeof traceparent === 'string' && traceparent.length <= LONGEST ? traceparent : undefined;
}
