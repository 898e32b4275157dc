import type { IncomingMessage } from 'node:http';
import { CALLER_GONE_STATUS } from '../pipeline/ending.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { maskKeys } from '../text.ts';

const LONGEST_MODEL = 256;
const LONGEST_PATH = 200;

export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** What the line of a request says, without the query and the bodies: they can hold what is nobody's business. */
export function requestFields(exchange: Exchange, nowMs: number): Record<string, unknown> {
  const { request, response, outcome, operation } = exchange;
  const isGone = exchange.stopReason === 'caller_gone' && !response.headersSent;
  return {
    request_id: exchange.id,
    ...(operation && { operation }),
    method: request.method,
    path: maskKeys(pathOf(request)).slice(0, LONGEST_PATH),
    ...(exchange.key && { key_prefix: exchange.key.prefix }),
    ...(exchange.model !== '' && { model: maskKeys(exchange.model.slice(0, LONGEST_MODEL)) }),
    status: outcome?.status ?? (isGone ? CALLER_GONE_STATUS : response.statusCode),
    ms: Math.round(((exchange.leftAtMs ?? nowMs) - exchange.startedAtMs) * 1000) / 1000,
    ...(operation === 'createChatCompletion' && {
      termination: outcome?.termination ?? (isGone ? 'client_disconnect' : 'success'),
    }),
    ...(exchange.remark !== undefined && { remark: exchange.remark }),
  };
}
