import type { RawReply } from './api-client.ts';

/** The parts that indistinguishable replies have in common: everything but the request id and the date. */
export function comparable({ status, headers, text }: RawReply) {
  const { 'x-request-id': _id, date: _date, ...others } = headers;
  return { status, headers: others, text };
}
