import { readBaseUrl } from './base-url.ts';
import type { Call, CallOptions } from './call.ts';
import { GatehouseError } from './errors.ts';
import {
  type DownloadOptions,
  type ExportInput,
  type RequestExport,
  requestExport,
  rowsOf,
} from './exports.ts';
import { type FollowInput, type FollowOptions, followed } from './follow.ts';
import { calls } from './generated/calls.ts';
import type { RequestLogEntry, Sections } from './generated/index.ts';
import { type ListInput, type ListName, type ListRow, rowsOfPages } from './pages.ts';
import { Renewal } from './renewal.ts';
import { readReply } from './reply.ts';
import { type ApiRequest, callNamed, placed, requestFor, targetOf } from './request.ts';
import { type Connection, send } from './send.ts';
import type { Session } from './session.ts';

export interface ClientOptions {
  /** The address of the API: `https://gatehouse.example/api`, or `/api` in a page of the same origin. */
  readonly baseUrl: string;
  /** Outside a browser: keeps the cookies of a sign-in. A browser keeps them itself. */
  readonly session?: Session;
  /** Takes the place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** How long a call may take, in milliseconds: 60,000 by default. */
  readonly timeoutMs?: number;
  /**
   * Runs when the session has expired, once for all calls that wait. `send` renews it. A page with several tabs can take a
   * lock around it, or resolve without it when another tab was first. The calls are repeated when it resolves.
   */
  readonly refresh?: (send: () => Promise<void>) => Promise<void>;
  /** Runs when the session has ended: only a sign-in helps. The call rejects as well. */
  readonly onUnauthorized?: (error: GatehouseError) => void;
}

/** The API as an object: one method for each call, by section. */
export interface Client extends Sections {
  /** Renews the session, or joins the renewal that runs. */
  refreshSession(): Promise<void>;
  /** All rows of the request log as one CSV or NDJSON stream. */
  downloadRequests(input: ExportInput, options: DownloadOptions): Promise<RequestExport>;
  /** All rows of the request log, newest first, one by one. Throws where the export is aborted before its end. */
  iterateRequests(input?: ExportInput, options?: CallOptions): AsyncGenerator<RequestLogEntry, void>;
  /** Requests as they come, older ones first, each once, until the signal aborts. Throws its reason then. */
  followRequests(input?: FollowInput, options?: FollowOptions): AsyncGenerator<RequestLogEntry, never>;
  /** All rows of a list, one by one, read page by page: `client.iterate('listActivity', { actor: 'ada@example.com' })`. */
  iterate<Name extends ListName>(
    name: Name,
    input?: ListInput<Name>,
    options?: CallOptions,
  ): AsyncGenerator<ListRow<Name>, void>;
  /** The whole address of a request; relative if `baseUrl` is. */
  urlOf(request: ApiRequest): string;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** A client of the API. It holds no connection and need not be closed. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = readBaseUrl(options.baseUrl);
  if (options.session && !/^https?:/.test(baseUrl))
    throw new TypeError('A session needs a whole address, with http or https.');
  const connection: Connection = {
    baseUrl,
    // In a browser, fetch must be called on its window.
    fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
    session: options.session,
  };
  const deadline = ({ signal, timeoutMs }: CallOptions) => ({
    signal,
    timeoutMs: timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  });
  const sendRefresh = async () => {
    const request = requestFor('refresh', {});
    await send(connection, request, deadline({}), (response) => readReply(request, response));
  };
  const { refresh = (renew) => renew() } = options;
  const renewal = new Renewal(async () => {
    try {
      await refresh(sendRefresh);
    } catch (error) {
      if (isUnauthorized(error)) options.onUnauthorized?.(error);
      throw error;
    }
  });

  async function answered<Result>(
    request: ApiRequest,
    given: CallOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { count, accounts } = renewal;
    const sent = () => send(connection, request, deadline(given), read);
    try {
      return await sent();
    } catch (error) {
      if (!request.call.needsSession || !isUnauthorized(error)) throw error;
      await renewal.since(count, given.signal).catch((failure: unknown) => {
        // The reason why the call failed is its own 401, unless the renewal got no answer.
        throw isUnauthorized(failure) ? error : failure;
      });
      if (renewal.accounts !== accounts) throw error;
    }
    try {
      return await sent();
    } catch (error) {
      if (isUnauthorized(error)) options.onUnauthorized?.(error);
      throw error;
    }
  }

  const method =
    (call: Call) =>
    async (input: object = {}, given: CallOptions = {}): Promise<unknown> => {
      const request = placed(call, input as Readonly<Record<string, unknown>>);
      const reply = await answered(request, given, (response) => readReply(request, response));
      if (call.setsCookies && call.name !== 'refresh') renewal.noteAccount();
      return reply;
    };
  const sections = Object.fromEntries(
    Object.entries(calls).map(([section, ofSection]) => [
      section,
      Object.fromEntries(Object.values<Call>(ofSection).map((call) => [call.name, method(call)])),
    ]),
  ) as unknown as Sections;

  const download = (input: ExportInput, { type, ...given }: DownloadOptions): Promise<RequestExport> => {
    const request = requestFor('listRequests', input, { accept: type });
    return answered(request, given, (response) => requestExport(request, response, type, given.signal));
  };

  return {
    ...sections,
    refreshSession: () => renewal.now(),
    downloadRequests: download,
    async *iterateRequests(input = {}, given = {}) {
      const { body } = await download(input, { ...given, type: 'application/x-ndjson' });
      yield* rowsOf(body);
    },
    followRequests: (input = {}, given = {}) => followed(sections.analytics.listRequests, input, given),
    iterate: (name, input, given = {}) => rowsOfPages(name, method(callNamed(name)), input ?? {}, given),
    urlOf: (request) => connection.baseUrl + targetOf(request),
  };
}

function isUnauthorized(error: unknown): error is GatehouseError {
  return error instanceof GatehouseError && error.status === 401;
}
