import { GatehouseConnectionError, GatehouseError } from './errors.ts';
import { type ApiRequest, targetOf } from './request.ts';
import type { Session } from './session.ts';

export interface Connection {
  /** The address of the API, without a final slash. */
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly session: Session | undefined;
}

export interface Deadline {
  readonly signal: AbortSignal | undefined;
  /** From the start to the end of the reply. */
  readonly timeoutMs: number;
}

/**
 * Sends a request and hands the response to `read`; signal and timeout end both. Everything that keeps an answer from
 * arriving whole is a `GatehouseConnectionError`; an abort rejects with the reason of its signal.
 */
export async function send<Result>(
  { baseUrl, fetch, session }: Connection,
  request: ApiRequest,
  { signal, timeoutMs }: Deadline,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal?.addEventListener('abort', abort, { once: true });
  let isTimeUp = false;
  const timer = setTimeout(() => {
    isTimeUp = true;
    abort();
  }, timeoutMs);
  try {
    const target = baseUrl + targetOf(request);
    // Only a page has a relative address, and it has no session of its own.
    const cookie = session?.headerFor(new URL(target));
    const response = await fetch(target, fetchOptions(request, cookie, controller.signal));
    session?.keep(new URL(target), response.headers.getSetCookie());
    return await read(response);
  } catch (error) {
    // Lets the connection go where the reply was not read to its end.
    abort();
    signal?.throwIfAborted();
    if (isTimeUp)
      throw new GatehouseConnectionError(
        request.call.name,
        `${request.call.name}: no answer within ${timeoutMs} ms.`,
      );
    if (error instanceof GatehouseError || error instanceof GatehouseConnectionError) throw error;
    throw new GatehouseConnectionError(request.call.name, `${request.call.name}: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function fetchOptions(request: ApiRequest, cookie: string | undefined, signal: AbortSignal): RequestInit {
  return {
    method: request.method,
    headers: {
      ...request.headers,
      ...(request.body ? { 'Content-Type': 'application/json' } : {}),
      ...(cookie === undefined ? {} : { Cookie: cookie }),
    },
    ...(request.body ? { body: JSON.stringify(request.body) } : {}),
    credentials: 'same-origin',
    // The API does not redirect, and a followed redirect would turn a POST into a GET.
    redirect: 'manual',
    signal,
  };
}

/** In Node, the reason of a failed fetch is its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = (cause as { code?: unknown }).code;
  return cause.message || (typeof code === 'string' ? code : cause.name);
}
