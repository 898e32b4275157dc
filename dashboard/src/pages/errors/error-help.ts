/** The party that can do something about an error. */
export type Source = 'caller' | 'limit' | 'provider' | 'service';

export interface ErrorHelp {
  /** The event as a short phrase. */
  readonly title: string;
  readonly explanation: string;
  /** The advice on what to do. */
  readonly advice: string;
  readonly source: Source;
}

export const SOURCES: Readonly<Record<Source, string>> = {
  caller: 'The request',
  limit: 'Limits and credit',
  provider: 'The provider',
  service: 'This service',
};

function help(source: Source, title: string, explanation: string, advice: string): ErrorHelp {
  return { source, title, explanation, advice };
}

/** The codes of the gateway: the table of docs/gateway.md. */
const GATEWAY_CODES: ReadonlyMap<string, ErrorHelp> = new Map([
  [
    'invalid_request',
    help(
      'caller',
      'The request was not valid',
      'The body was not JSON, named no model, had a parameter that is not accepted, was too large or arrived too slowly.',
      'Read the message that the caller got: it names the parameter. Correct the request; sending it again as it is does not help.',
    ),
  ],
  [
    'invalid_api_key',
    help(
      'caller',
      'The key was not accepted',
      'The request had no key, or one that is malformed, unknown or revoked.',
      'Check the key that the application sends. Replace a revoked one by a new one.',
    ),
  ],
  [
    'key_expired',
    help(
      'caller',
      'The key has expired',
      'The key was used after its end.',
      'Create a new key for the application.',
    ),
  ],
  [
    'key_credit_exhausted',
    help(
      'limit',
      'The credit of the key is used up',
      'What is left of the key’s credit limit is less than the request needs at least.',
      'Raise the credit limit of the key, or find out by its requests why it spends so much.',
    ),
  ],
  [
    'budget_exhausted',
    help(
      'limit',
      'The budget of the organisation is used up',
      'What is left of the organisation’s budget is less than the request needs at least.',
      'Ask the operator of this service for credit. Requests with your own provider key do not need it.',
    ),
  ],
  [
    'spend_limit_reached',
    help(
      'limit',
      'A spend limit is reached',
      'What is left of a spend limit in its window is less than the request needs at least. The message to the caller names the limit.',
      'Raise the limit on the page Limits, or wait for the end of its window.',
    ),
  ],
  [
    'credit_held',
    help(
      'limit',
      'Requests in flight hold the credit',
      'There is enough credit, but running requests have reserved it for their longest possible answer.',
      'Try again after the time in Retry-After. Lower max_tokens or the number of parallel requests, or raise the credit limit.',
    ),
  ],
  [
    'rate_limit_exceeded',
    help(
      'limit',
      'Too many requests a minute',
      'The key sent more requests in a minute than its rate limit allows.',
      'Wait as long as Retry-After says, send fewer requests at once, or raise the rate limit of the key.',
    ),
  ],
  [
    'model_not_allowed',
    help(
      'limit',
      'The key may not use this model',
      'The model is not in the list of models of the key.',
      'Add the model to the key, or use one of its list.',
    ),
  ],
  [
    'model_not_found',
    help(
      'caller',
      'There is no such model',
      'No active route has this name, or its model does not serve this endpoint.',
      'Correct the name: the message to the caller suggests the nearest one. GET /v1/models lists all.',
    ),
  ],
  [
    'not_found',
    help(
      'caller',
      'The path is not served',
      'The request was for a path that the gateway does not have.',
      'Check the base URL of the client: most SDKs want it with /v1 at its end.',
    ),
  ],
  [
    'method_not_allowed',
    help(
      'caller',
      'The method is not allowed',
      'The path exists, and does not take this HTTP method.',
      'Use the method of the endpoint: completions are sent with POST.',
    ),
  ],
  [
    'host_not_served',
    help(
      'service',
      'The host name is not served',
      'The request came for a host name that is not among the allowed ones.',
      'Use the address of the gateway, or ask its operator to add the name to ALLOWED_HOSTS.',
    ),
  ],
  [
    'internal_error',
    help(
      'service',
      'Internal error of the gateway',
      'The gateway itself failed. Its log has the cause under the id of the request.',
      'Give the id of a request to the operator of this service.',
    ),
  ],
  [
    'upstream_error',
    help(
      'provider',
      'The provider could not answer',
      'The provider could not be reached, its answer broke or reported an error, or it rejected the credential of this service.',
      'Open a request to see what each attempt got. Retry; if it stays, use another model or tell the operator.',
    ),
  ],
  [
    'upstream_timeout',
    help(
      'provider',
      'The time limit was reached',
      'The provider did not begin or finish its answer within the time limit of the route.',
      'Use a stream, ask for fewer tokens, or choose a faster model.',
    ),
  ],
  [
    'upstream_unavailable',
    help(
      'provider',
      'Every provider is paused',
      'Every provider of the model failed or asked for a pause, so the gateway sent nothing to them.',
      'Try again after the time in Retry-After, or use another model meanwhile.',
    ),
  ],
  [
    'upstream_not_configured',
    help(
      'service',
      'The provider is not set up',
      'The provider of the model has no usable key or address here, or your stored provider key cannot be read.',
      'Store your provider key again, or ask the operator to set up the provider.',
    ),
  ],
  [
    'service_unavailable',
    help(
      'service',
      'The gateway was not available',
      'The gateway had no database, disk space or memory for the request.',
      'Retry after a moment. If it stays, tell the operator of this service.',
    ),
  ],
  [
    'upstream_stream_aborted',
    help(
      'provider',
      'The provider broke the answer off',
      'The answer had begun and ended before it was complete. The caller got an error as its last event.',
      'Retry the request. If one model has most of them, use another one.',
    ),
  ],
]);

/** Errors of providers that were passed on, by their status. */
const PROVIDER_STATUSES: ReadonlyMap<number, readonly [title: string, advice: string]> = new Map([
  [
    400,
    [
      'The provider refused the request as not valid',
      'Read the message of the provider: it names the parameter that this model does not accept.',
    ],
  ],
  [
    401,
    ['The provider refused your key', 'Check your own provider key, and store it again if it has changed.'],
  ],
  [402, ['Your account at the provider has no credit', 'Add credit to your account at the provider.']],
  [
    403,
    [
      'The provider does not permit it',
      'Check at the provider what your own key may use, and from which regions.',
    ],
  ],
  [
    404,
    ['The provider does not have the model', 'Check whether your account at the provider has this model.'],
  ],
  [413, ['The request was too large for the provider', 'Send a shorter prompt, or fewer files.']],
  [
    429,
    [
      'The limit of the provider was reached',
      'Not the limit of your key. Retry later or with fewer parallel requests, use another model, or raise the limit at the provider.',
    ],
  ],
  [503, ['The provider was not available', 'Retry after a moment, or use another model.']],
  [529, ['The provider is overloaded', 'Retry after a moment, or use another model.']],
]);

/** The meaning of an error code and what to do. A code that is not known is explained as far as it can be. */
export function errorHelp(code: string): ErrorHelp {
  const known = GATEWAY_CODES.get(code);
  if (known) return known;
  const status = /^upstream_([1-9]\d\d)$/.exec(code)?.[1];
  if (status === undefined)
    return help(
      'service',
      'An error of another kind',
      'This page has no explanation for the code.',
      'Open one of the requests to see what happened.',
    );
  const [title, advice] = PROVIDER_STATUSES.get(Number(status)) ?? [
    Number(status) >= 500 ? 'The provider failed' : 'The provider refused the request',
    Number(status) >= 500
      ? 'Retry after a moment. If it stays, use another model.'
      : 'Open a request to read the message of the provider.',
  ];
  return help(
    'provider',
    title,
    `The provider answered with status ${status}, and the caller got its answer.`,
    advice,
  );
}
