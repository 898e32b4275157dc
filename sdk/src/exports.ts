import { GatehouseConnectionError } from './errors.ts';
import type { ListRequestsInput, RequestLogEntry } from './generated/index.ts';
import { chunksOf, errorOf, mediaType } from './reply.ts';
import type { ApiRequest } from './request.ts';

/** The filters of an export. It has every row, so it takes no page. */
export type ExportInput = Omit<ListRequestsInput, 'limit' | 'offset'>;

export interface DownloadOptions {
  readonly type: 'text/csv' | 'application/x-ndjson';
  /** Aborts the download, also while its body is read. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the first row, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export interface RequestExport {
  readonly type: DownloadOptions['type'];
  /** The name that the service suggests for the file, without a folder. */
  readonly fileName: string;
  /** Errors where the export is aborted: what was read is then incomplete. */
  readonly body: ReadableStream<Uint8Array>;
}

/** An export sends rows all the time; a longer pause is a broken connection. */
const PAUSE_MS = 120_000;

/** The body of a response as an export. Throws where the response is none. */
export async function requestExport(
  request: ApiRequest,
  response: Response,
  type: DownloadOptions['type'],
  signal: AbortSignal | undefined,
): Promise<RequestExport> {
  // A page of HTML with status 200 would otherwise be stored as a file of rows.
  if (!response.ok || mediaType(response) !== type) throw await errorOf(request, response);
  const name = /filename="([^"]*)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? '';
  return {
    type,
    fileName: /^[\w-][\w.-]{0,199}$/.test(name) ? name : `requests.${type === 'text/csv' ? 'csv' : 'ndjson'}`,
    body: guarded(request, response.body ?? new Blob([]).stream(), signal),
  };
}

function guarded(
  request: ApiRequest,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const stop = (reason: unknown) => void reader.cancel(reason).catch(() => undefined);
  const aborted = (cause: unknown) =>
    new GatehouseConnectionError(
      request.call.name,
      `${request.call.name}: the export was aborted before its end.`,
      {
        cause,
      },
    );
  let abort: () => void;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      abort = () => {
        controller.error(signal?.reason);
        stop(signal?.reason);
      };
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    },
    async pull(controller) {
      const timer = setTimeout(() => {
        controller.error(aborted(`nothing came for ${PAUSE_MS} ms`));
        stop('paused too long');
      }, PAUSE_MS);
      try {
        const { done, value } = await reader.read();
        if (signal?.aborted) return;
        if (!done) return controller.enqueue(value);
        signal?.removeEventListener('abort', abort);
        controller.close();
      } catch (error) {
        signal?.removeEventListener('abort', abort);
        if (!signal?.aborted) controller.error(aborted(error));
      } finally {
        clearTimeout(timer);
      }
    },
    cancel(reason) {
      signal?.removeEventListener('abort', abort);
      stop(reason);
    },
  });
}

/** The rows of an NDJSON export. Throws where it ends early. */
export async function* rowsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<RequestLogEntry, void> {
  for await (const line of linesOf(body)) {
    let row: RequestLogEntry;
    try {
      row = JSON.parse(line);
    } catch (cause) {
      throw new GatehouseConnectionError('listRequests', 'A row of the export is not JSON.', { cause });
    }
    yield row;
  }
}

/** The longest line that is held, in characters. A row has some thousand. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

/** The lines of a stream of text. Throws for one that is too long, and for a last one without its end. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunksOf(stream)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_LENGTH)
      throw new GatehouseConnectionError(
        'listRequests',
        `A line is longer than ${MAX_LINE_LENGTH} characters.`,
      );
    yield* lines;
  }
  if (rest + decoder.decode() !== '')
    throw new GatehouseConnectionError('listRequests', 'The export was aborted within a line.');
}
