export { createRequestQueues, type RequestQueues } from './request-queues.ts';
