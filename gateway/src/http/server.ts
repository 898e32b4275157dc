import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  API_SECURITY_HEADERS,
  type Arrival,
  type Certificate,
  checkHost,
  createListener,
  isHealthPath,
  type Listener,
  type MalformedAnswers,
  pathOf,
  type ServedHosts,
} from '@gatehouse/http';
import { GatewayError, hostNotServed, invalidRequest, unknownExpectation } from '../errors/gateway-error.ts';
import { newRequestId } from '../exchange/request-id.ts';

export const HEADERS_TIMEOUT_MS = 9_000;
export const BODY_TIMEOUT_MS = 60_000;
const LOCALHOST_ONLY: ServedHosts = new Set();

export interface ServerSettings {
  /** How long a request may take to arrive in full; a minute unless given. */
  readonly bodyTimeoutMs?: number;
  /** The names that requests may be addressed to, besides localhost; none unless given. Health checks may come under any. */
  readonly allowedHosts?: ServedHosts;
  /** With it the gateway speaks HTTPS only. */
  readonly certificate?: Certificate | undefined;
}

export interface GatewayArrival {
  /** True if the caller waits for 100 Continue before it sends the body. */
  readonly expectsContinue: boolean;
  /** The answer, whatever the request asks for. */
  readonly error: GatewayError | undefined;
  readonly nextBegun: Arrival['nextBegun'];
}

type OnRequest = (request: IncomingMessage, response: ServerResponse, arrival: GatewayArrival) => void;

/** The gateway's listener, not yet listening. */
export function createHttpServer(
  settings: ServerSettings,
  log: MalformedAnswers['log'],
  onRequest: OnRequest,
): Listener {
  const requestTimeoutMs = settings.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
  return createListener({
    headersTimeoutMs: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    requestTimeoutMs,
    answersExpectations: true,
    answersDuringHandling: false,
    malformed: malformedAnswers(log),
    certificate: settings.certificate,
    onRequest({ request, response, expectation, nextBegun }) {
      const error =
        expectation === 'unknown' ? unknownExpectation() : hostError(request, settings.allowedHosts);
      onRequest(request, response, { expectsContinue: expectation !== 'none', error, nextBegun });
    },
  });
}

function hostError(request: IncomingMessage, served = LOCALHOST_ONLY): GatewayError | undefined {
  const error = checkHost(request, served);
  if (error === undefined) return undefined;
  if (error.status === 400) return invalidRequest(error.sentence);
  return isHealthPath(pathOf(request.url ?? '')) ? undefined : hostNotServed(error.sentence);
}

function malformedAnswers(log: MalformedAnswers['log']): MalformedAnswers {
  const body = (status: number, message: string) =>
    new GatewayError({ status, type: 'invalid_request_error', code: 'invalid_request', message }).bodyText;
  return {
    headers: API_SECURITY_HEADERS,
    newRequestId: () => newRequestId(Date.now()),
    bodies: {
      400: body(400, 'The request is not valid HTTP.'),
      408: body(408, 'The request took too long to arrive.'),
      431: body(431, "The request's headers are too large."),
    },
    log,
  };
}
