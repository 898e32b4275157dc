import type { RequestFacts } from './request-facts.ts';

/** What a caller asked for, checked, with the body that says so. */
export interface Call extends RequestFacts {
  /** The caller's bytes. To be called once: they are handed over. */
  takeBody(): Buffer;
}

/** The call that a body is, by what was read from it. */
export function createCall(facts: RequestFacts, body: Buffer): Call {
  return { ...facts, takeBody: takenOnce(body) };
}

/** Hands the bytes over once, so that no memory is kept of them while an answer comes. */
export function takenOnce(bytes: Buffer): () => Buffer {
  let body: Buffer | undefined = bytes;
  return () => {
    if (!body) throw new Error('the body was handed over before');
    const taken = body;
    body = undefined;
    return taken;
  };
}
