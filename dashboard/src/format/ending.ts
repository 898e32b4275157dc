import type { RequestAttempt, RequestLogEntry } from '@gatehouse/sdk';

// How requests and attempts ended, in plain words.

type Reason = RequestLogEntry['status_detail']['termination_reason'];

/** As a filter names them. */
export const ENDING_LABELS: Readonly<Record<Reason, string>> = {
  success: 'Answered',
  proxy_guillotine: 'Out of time',
  client_disconnect: 'Caller left',
  upstream_stream_aborted: 'Provider broke off',
};

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'Refused: the request was not valid',
  401: 'Refused: the key was not accepted',
  402: 'Refused: no credit was left',
  403: 'Refused: the key may not do this',
  404: 'Refused: there is no such model',
  413: 'Refused: the request was too large',
  429: 'Refused: too many requests',
  500: 'Failed: internal error',
  502: 'Failed: no provider gave an answer',
  503: 'Failed: no capacity',
  504: 'Failed: no provider answered in time',
  529: 'Refused: the provider is overloaded',
};

/** How the request ended, as a sentence without a full stop. */
export function endingOf({
  status,
  status_detail,
}: Pick<RequestLogEntry, 'status' | 'status_detail'>): string {
  switch (status_detail.termination_reason) {
    case 'client_disconnect':
      return 'The caller left before the end of the answer';
    case 'upstream_stream_aborted':
      return 'The provider broke the answer off';
    case 'proxy_guillotine':
      return 'Ended by the gateway: the time limit was reached';
  }
  if (status < 400) return 'Answered in full';
  return (
    STATUS_WORDS[status] ?? (status < 500 ? `Refused with status ${status}` : `Failed with status ${status}`)
  );
}

const ATTEMPT_ENDINGS: Readonly<Record<RequestAttempt['ending'], string>> = {
  served: 'answered in full',
  error_status: 'answered with an error',
  unreachable: 'could not be reached',
  timed_out: 'ran out of time',
  broken: 'broke its answer off',
  error_event: 'reported an error in its answer',
  client_disconnect: 'was stopped: the caller left',
  stopped: 'was stopped by the gateway',
};

/** How an attempt ended: `answered with an error (429)`. */
export function attemptEnding({ ending, status }: Pick<RequestAttempt, 'ending' | 'status'>): string {
  const words = ATTEMPT_ENDINGS[ending] ?? ending;
  return ending === 'error_status' && status !== null ? `${words} (${status})` : words;
}
