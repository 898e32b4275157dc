import { GatehouseConnectionError, GatehouseError, GatehouseReplyError, type Issue } from './errors.ts';
import type { ApiRequest } from './request.ts';

/** The longest reply that is read, in bytes. A page of 200 rows is some hundred thousand. */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Reads a reply as the call declares it. Throws the error that the API, or something in its place, answered with. */
export async function readReply(request: ApiRequest, response: Response): Promise<unknown> {
  if (!response.ok) throw await errorOf(request, response);
  const type = mediaType(response);
  const text = await readText(request, response);
  const value = type === 'application/json' ? parsed(text) : undefined;
  if (!isObject(value))
    throw notTheApi(request, response, text, `${type || 'no media type'}, not a JSON object`);
  const missing = request.call.reply.filter((name) => !(name in value));
  if (missing.length > 0) throw notTheApi(request, response, value, `no ${missing.join(', ')}`);
  return value;
}

/** The error of a reply that is not what the call declares. */
export async function errorOf(request: ApiRequest, response: Response): Promise<GatehouseError> {
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel();
    return notTheApi(
      request,
      response,
      '',
      `a redirect to ${response.headers.get('location') ?? 'elsewhere'}`,
    );
  }
  const text = await readText(request, response);
  const body = mediaType(response) === 'application/json' ? parsed(text) : undefined;
  const message = isObject(body) ? messageOf(body) : undefined;
  if (message === undefined)
    return notTheApi(request, response, text, mediaType(response) || 'no media type');
  const retryAfter = response.headers.get('retry-after') ?? '';
  return new GatehouseError({
    call: request.call.name,
    status: response.status,
    message,
    issues: issuesIn(body),
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
    hint: response.headers.get('x-gatehouse-hint') ?? undefined,
    body,
  });
}

function notTheApi(
  request: ApiRequest,
  response: Response,
  body: unknown,
  found: string,
): GatehouseReplyError {
  return new GatehouseReplyError({
    call: request.call.name,
    status: response.status,
    message: `${request.call.name}: not an answer of this API: status ${response.status}, ${found}. Is baseUrl its address?`,
    requestId: response.headers.get('x-request-id') ?? undefined,
    body,
  });
}

/** The API has two forms: one sentence, or a list of issues. */
function messageOf(body: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof body['error'] === 'string') return body['error'];
  if (typeof body['detail'] === 'string') return body['detail'];
  const sentences = issuesIn(body).map(
    ({ loc, msg }) => `${loc.slice(1).join('.') || loc.join('.')}: ${msg}`,
  );
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

function issuesIn(body: unknown): Issue[] {
  const detail = isObject(body) ? body['detail'] : undefined;
  return Array.isArray(detail) ? detail.filter(isIssue) : [];
}

function isIssue(value: unknown): value is Issue {
  return (
    isObject(value) &&
    Array.isArray(value['loc']) &&
    typeof value['msg'] === 'string' &&
    typeof value['type'] === 'string'
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The type of a body without its parameters, in lower case. */
export function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(request: ApiRequest, response: Response): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of chunksOf(response.body)) {
    bytes += chunk.byteLength;
    if (bytes > MAX_REPLY_BYTES)
      throw new GatehouseConnectionError(
        request.call.name,
        `${request.call.name}: the reply is longer than ${MAX_REPLY_BYTES} bytes.`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The chunks of a stream, which is cancelled when the reader stops early. Not every browser can iterate a stream itself. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  let isAtEnd = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isAtEnd = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isAtEnd) await reader.cancel().catch(() => undefined);
  }
}
