export {
  type Arrival,
  createListener,
  type ListenAddress,
  type Listener,
  type ListenerOptions,
} from './listener.ts';
export { answerMalformed, type MalformedAnswers, type MalformedStatus } from './malformed-request.ts';
export { privateKeyIn, readPemFile } from './pem.ts';
export { type RequestLogFields, requestLogFields } from './request-log.ts';
export { createRequestQueues, type RequestQueues } from './request-queues.ts';
export { pathOf, requestTarget } from './request-target.ts';
export { API_SECURITY_HEADERS, BROWSER_SECURITY_HEADERS } from './security-headers.ts';
export {
  type AddressedRequest,
  checkHost,
  type HostError,
  hostName,
  isHealthPath,
  isLoopbackHost,
  isServedHost,
  type ServedHosts,
} from './served-hosts.ts';
export type { Certificate } from './tls.ts';
export { traceparentOf } from './traceparent.ts';
export { UnreadAnswer, UnreadAnswers, type UnreadAnswersOptions } from './unread-answers.ts';
