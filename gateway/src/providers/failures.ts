import { EventTooLarge } from '../wire/sse.ts';
import { proxyStatus } from './connector.ts';

const CAUSES = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['EAI_AGAIN', 'the host name could not be resolved'],
  ['EHOSTUNREACH', 'the host could not be reached'],
  ['ENETUNREACH', 'the network could not be reached'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['ECONNRESET', 'the connection broke'],
  ['EPIPE', 'the connection broke'],
  ['UND_ERR_SOCKET', 'the connection broke'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection could be made in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timed out'],
  ['UND_ERR_BODY_TIMEOUT', 'timed out'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the connection broke'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the answer was not valid HTTP'],
]);

/** The failure in a few words. */
export function describeFailure(error: Error): string {
  if (error instanceof EventTooLarge) return 'sent an event that is too large';
  const refusal = proxyStatus(error);
  if (refusal !== undefined) return `the proxy answered ${refusal}`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('HPE_')) return 'the answer was not valid HTTP';
  return CAUSES.get(code) ?? (code === '' ? 'the request failed' : `the request failed (${code})`);
}
