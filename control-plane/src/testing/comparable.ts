import type { RawReply } from './api-client.ts';

/** All of an answer that two equal refusals must have in common: everything but the request's id and the time. */
export function comparable({ status, headers, text }: RawReply) {
  const { 'x-request-id': _id, date: _date, ...others } = headers;
  return { status, headers: others, text };
}
