import type { Outcome } from '../context/outcome.ts';

/** 200 with a JSON document of the gateway's own. */
export function jsonOutcome(document: unknown): { readonly outcome: Outcome } {
  return {
    outcome: {
      kind: 'answered',
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: Buffer.from(JSON.stringify(document)),
      reading: undefined,
      upstreamError: null,
      isOwn: true,
    },
  };
}
