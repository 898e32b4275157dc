import type { RequestFacts } from './request-facts.ts';

/** A caller's request, checked, with its body. */
export interface Call extends RequestFacts, Body {}

/** Bytes that are handed over. */
export interface Body {
  /** To be called once: no memory is kept of them here after that. */
  takeBody(): Buffer;
  /** The bytes, for another use while these are kept. */
  peekBody(): Buffer;
  /** Nothing needs them any more. */
  releaseBody(): void;
}

/** The call that a body is, by what was read from it. */
export function createCall(facts: RequestFacts, body: Buffer): Call {
  return { ...facts, ...createBody(body) };
}

export function createBody(bytes: Buffer): Body {
  let body: Buffer | undefined = bytes;
  const peekBody = () => {
    if (!body) throw new Error('the body was handed over before');
    return body;
  };
  const releaseBody = () => {
    body = undefined;
  };
  return {
    takeBody() {
      const taken = peekBody();
      releaseBody();
      return taken;
    },
    peekBody,
    releaseBody,
  };
}
