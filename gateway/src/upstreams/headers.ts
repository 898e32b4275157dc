import type { Redaction } from '../protocols/redaction.ts';
import type { UpstreamHeaders } from './upstream.ts';

/** Everything a provider sees in the head of a request. Nothing of the caller's own headers is among it. */
export function headersFor(isStream: boolean, apiKey: string | undefined): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: isStream ? 'text/event-stream' : 'application/json',
    'user-agent': 'gatehouse',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
}

/** What of a provider's head reaches the caller. */
export function passedHeaders(
  headers: UpstreamHeaders,
  redaction: Redaction | undefined,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of ['content-type', 'retry-after']) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = redaction?.text(value) ?? value;
  }
  return passed;
}

/** Why a head cannot lead to an answer that is passed on; undefined when it can. */
export function unusableHead(status: number, headers: UpstreamHeaders): string | undefined {
  if (status >= 300 && status < 400) return `answered with status ${status}, which is not followed`;
  if (status < 200 || status >= 600) return `answered with status ${status}, which means nothing`;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return 'answered in an encoding that was not asked for';
  }
  return undefined;
}

export function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\s*(;|$)/i.test(type);
}

export function isJson(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^application\/json\s*(;|$)/i.test(type);
}
