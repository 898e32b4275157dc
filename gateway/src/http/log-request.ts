import { pathOf, requestLogFields } from '@gatehouse/http';
import type { Exchange } from '../pipeline/exchange.ts';
import { CALLER_GONE_STATUS } from '../pipeline/outcome.ts';
import { maskKeys } from '../text.ts';

const MAX_MODEL_LENGTH = 256;

/** The fields of a request's log line. The query and the bodies, which can hold private data, are left out. */
export function requestFields(exchange: Exchange, nowMs: number): Readonly<Record<string, unknown>> {
  const { request, response, recorded, operation } = exchange;
  const isGone = exchange.stopReason === 'caller_gone' && !response.headersSent;
  return {
    ...requestLogFields({
      request_id: exchange.id,
      operation,
      method: request.method,
      path: maskKeys(pathOf(request.url ?? '')),
      status: recorded?.status ?? (isGone ? CALLER_GONE_STATUS : response.statusCode),
      ms: (exchange.leftAtMs ?? nowMs) - exchange.startedAtMs,
    }),
    ...(exchange.key && { key_prefix: exchange.key.prefix }),
    ...(exchange.model !== '' && { model: maskKeys(exchange.model.slice(0, MAX_MODEL_LENGTH)) }),
    ...(operation === 'createChatCompletion' && {
      termination: recorded?.termination ?? (isGone ? 'client_disconnect' : 'success'),
    }),
    ...(exchange.remark !== undefined && { remark: exchange.remark }),
  };
}
