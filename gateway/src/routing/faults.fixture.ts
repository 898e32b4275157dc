import { chunk, delta, flush, json, type Script, sse } from '../testing/mock-provider.ts';

// The faults of providers, and what a caller sees of each that has no other target.

export const ERROR = { error: { message: 'overloaded', type: 'server_error', code: null } };
const ERROR_EVENT = `data: ${JSON.stringify(ERROR)}\n\n`;

/** The caller's view where there is no other target. */
export interface Seen {
  readonly status: number;
  readonly includes: string;
  readonly refusal?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Fault {
  readonly name: string;
  readonly stream: boolean;
  /** Undefined where nothing listens. */
  readonly script: Script | undefined;
  /** True if nothing happens until a time limit. */
  readonly hangs?: true;
  /** True if its head has come by then. */
  readonly showsHead?: true;
  readonly seen: Seen;
  readonly ending: string;
  readonly status: number | null;
  /** The cost of the attempt, at the first target and at the second. */
  readonly costs?: readonly [bigint, bigint];
  /** True if content had been sent, so that nothing can follow. */
  readonly isFinal?: true;
}

const hang: Script = () => new Promise(() => {});
const head: Script = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return new Promise(() => {});
};
// Counted here: the tokens of the prompt with its frame, and the one of the word.
const CUT_USAGE = { prompt: 8, completion: 1 };
const cutCost = (input: bigint, output: bigint) =>
  BigInt(CUT_USAGE.prompt) * input + BigInt(CUT_USAGE.completion) * output;

const ANY_FAULTS: readonly Fault[] = [false, true].flatMap((stream): Fault[] => [
  {
    name: 'refuses the connection',
    stream,
    script: undefined,
    seen: { status: 502, includes: 'could not be reached', refusal: 'upstream_error' },
    ending: 'unreachable',
    status: null,
  },
  {
    name: 'resets the connection',
    stream,
    script: (response) => void response.destroy(),
    seen: { status: 502, includes: 'could not be reached', refusal: 'upstream_error' },
    ending: 'unreachable',
    status: null,
  },
  {
    name: 'hangs',
    stream,
    script: hang,
    hangs: true,
    seen: { status: 504, includes: 'did not answer', refusal: 'upstream_timeout' },
    ending: 'timed_out',
    status: null,
  },
  ...[408, 409, 429, 500, 503, 529].map(
    (status): Fault => ({
      name: `answers ${status}`,
      stream,
      script: json(ERROR, status),
      seen: { status, includes: JSON.stringify(ERROR) },
      ending: 'error_status',
      status,
    }),
  ),
  ...[429, 503].map(
    (status): Fault => ({
      name: `answers ${status} with Retry-After`,
      stream,
      script: json(ERROR, status, { 'retry-after': '7' }),
      seen: { status, includes: JSON.stringify(ERROR), headers: { 'retry-after': '7' } },
      ending: 'error_status',
      status,
    }),
  ),
  {
    name: 'rejects the credential',
    stream,
    script: json(ERROR, 401),
    seen: { status: 502, includes: "rejected this gateway's credential", refusal: 'upstream_error' },
    ending: 'error_status',
    status: 401,
  },
  {
    name: 'answers with something that is no completion',
    stream,
    script: json('<html>'),
    seen: { status: 502, includes: 'usable answer', refusal: 'upstream_error' },
    ending: 'broken',
    status: 200,
  },
]);

const STREAM_FAULTS: readonly Fault[] = [
  {
    name: 'begins with an error event',
    stream: true,
    script: sse(ERROR_EVENT),
    seen: { status: 200, includes: ERROR_EVENT },
    ending: 'error_event',
    status: 200,
  },
  {
    name: 'begins with an error event after a chunk without content',
    stream: true,
    script: sse(
      chunk({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] }),
      ERROR_EVENT,
    ),
    seen: { status: 200, includes: ERROR_EVENT },
    ending: 'error_event',
    status: 200,
  },
  {
    name: 'breaks before the first content',
    stream: true,
    script: async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, ': hello\n\n');
      response.destroy();
    },
    seen: { status: 200, includes: 'upstream_error' },
    ending: 'broken',
    status: 200,
  },
  {
    name: 'ends before the first content',
    stream: true,
    script: sse(': hello\n\n'),
    seen: { status: 200, includes: 'upstream_error' },
    ending: 'broken',
    status: 200,
  },
  {
    name: 'is slow to its first content',
    stream: true,
    script: head,
    hangs: true,
    showsHead: true,
    seen: { status: 200, includes: 'upstream_timeout' },
    ending: 'timed_out',
    status: null,
  },
  {
    name: 'sends an error event after content',
    stream: true,
    script: sse(chunk(delta('cut')), ERROR_EVENT),
    seen: { status: 200, includes: ERROR_EVENT },
    ending: 'error_event',
    status: 200,
    costs: [cutCost(70n, 560n), cutCost(90n, 700n)],
    isFinal: true,
  },
  {
    name: 'breaks after content',
    stream: true,
    script: async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(delta('cut')));
      response.destroy();
    },
    seen: { status: 200, includes: 'upstream_error' },
    ending: 'broken',
    status: 200,
    costs: [cutCost(70n, 560n), cutCost(90n, 700n)],
    isFinal: true,
  },
];

export const FAULTS: readonly Fault[] = [...ANY_FAULTS, ...STREAM_FAULTS];
