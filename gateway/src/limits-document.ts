import { maxHeaderSize } from 'node:http';
import {
  DEFAULT_RATE_LIMIT_CEILING_RPM,
  DEFAULT_RATE_LIMIT_RPM,
  MAX_METADATA_NAME_LENGTH,
  MAX_METADATA_VALUE_BYTES,
} from '@gatehouse/contract';
import { MAX_LATE_USAGE_MS } from './attempt/attempt-limits.ts';
import { COSTS, LEAK_PER_MS, MAX_WAIT_MS } from './attempt/flow.ts';
import { READ_ON_BYTES, READ_ON_MS } from './attempt/read-on.ts';
import { MAX_ANSWER_BYTES } from './attempt/whole-answer.ts';
import { MIN_PACE } from './bodies/body-pace.ts';
import { SMALL_BODY_BYTES } from './bodies/held-body.ts';
import { BYTES_PER_INTERVAL, BYTES_PER_INTERVAL_OF_OWNER, INTERVAL_MS } from './bodies/intake.ts';
import { FREE_BYTES } from './bodies/kept-bytes.ts';
import { FRAME_TOKENS, MAX_CALLS, MAX_CONTEXT, MAX_TURNS } from './credit/usage-bounds.ts';
import { LARGE_ECHO } from './demo/echo-bounds.ts';
import { MAX_DIMENSIONS } from './demo/embeddings-echo.ts';
import { MAX_CHOICES, MAX_INPUT_CHARACTERS } from './demo/read-echo.ts';
import { MAX_MODELS } from './discovery/page.ts';
import {
  MAX_METADATA_BYTES_OF_REFUSED,
  MAX_USER_AGENT_LENGTH,
  MAX_USER_AGENT_OF_COUNTED_LENGTH,
} from './endpoints/record.ts';
import {
  DISCARDED_BYTES,
  DISCARDED_BYTES_OF_STRANGERS,
  PACED_BYTES,
  PACED_MS,
  STALLED_MS,
} from './exchange/answers.ts';
import { MAX_ENTRIES } from './exchange/metadata.ts';
import { ALWAYS_BYTES, MAX_BYTES, MINUTE_BYTES } from './exchange/metadata-budget.ts';
import { MAX_READ_ONS, MAX_READ_ONS_OF_ONE } from './exchange/read-ons.ts';
import { MAX_ROLE_LENGTH } from './formats/member-table.ts';
import { BODY_LIMITS } from './formats/parse-body.ts';
import { MAX_VALUE_LENGTH } from './formats/passed-headers.ts';
import { MAX_OWN_REFERENCES } from './formats/responses/own-items.ts';
import { MAX_INPUTS } from './formats/token-input.ts';
import { MAX_KEPT_IDS } from './formats/translation/call-ids.ts';
import {
  BODIES_AT_ONCE,
  BODIES_AT_ONCE_OF_ONE,
  DATABASE_TIMEOUT_MS,
  SMALL_BODIES_BYTES,
  SMALL_BODIES_BYTES_OF_ONE,
} from './gateway.ts';
import { BODY_TIMEOUT_MS, HEADERS_TIMEOUT_MS } from './http/server.ts';
import {
  MINUTE_BYTES as ITEM_BYTES_OF_A_MINUTE,
  MAX_ITEM_BYTES,
  MINUTE_ITEMS,
} from './kept-items/kept-items.ts';
import { bytes, number, percent, seconds } from './limits-in-words.ts';
import { INTERVAL_MS as COUNT_INTERVAL_MS } from './observed/intervals.ts';
import { ROW_LIMITS } from './observed/refused-requests.ts';
import { LINE_LIMITS } from './observed/request-lines.ts';
import { CONNECT_TIMEOUT_MS, CONNECTIONS } from './providers/connections.ts';
import { MAX_QUEUED_OF_OWNER, TIMEOUT_MS } from './readers/reader-lane.ts';
import { BASE_HEAP_MB, COUNT_WAIT_MS, HEAP_PER_BODY_BYTE, LANES } from './readers/reader-pool.ts';
import { OWN, SHARED } from './tokens/count-time.ts';
import { EXACT_CHARACTERS } from './tokens/count-tokens.ts';
import { DEEPEST, MAX_VALUES, SHALLOW_BYTES } from './wire/answer-json.ts';
import { MAX_NAMES } from './wire/headers.ts';
import { MAX_EVENT_BYTES } from './wire/sse.ts';

/** The default of `GATEWAY_BODY_LIMIT_MB`, in bytes. Compared with docs/configuration.md in limits-document.test.ts. */
const BODY_BYTES = 32 * 1024 ** 2;

const pace = ({ ofByte, burst }: { readonly ofByte: number; readonly burst: number }) =>
  `${bytes((LEAK_PER_MS * 1_000) / ofByte)} a second after ${bytes(burst / ofByte)}`;
const perSecond = (value: number) => `${bytes((value / INTERVAL_MS) * 1_000)} a second`;
const heap = (largest: number) => `${BASE_HEAP_MB + (HEAP_PER_BODY_BYTE * largest) / 1024 ** 2} MiB`;
const medium = bytes(LANES.mediumBytes);

/** A limit: its subject, its value, the result of exceeding it, and the setting that changes it. */
type Row = readonly [what: string, limit: string, beyond: string, setting?: string];

const REQUESTS: readonly Row[] = [
  [
    'requests of a key in any 60 seconds',
    `its rate: ${DEFAULT_RATE_LIMIT_RPM} unless it has another, ${number(DEFAULT_RATE_LIMIT_CEILING_RPM)} at most`,
    '429 `rate_limit_exceeded`',
    'RATE_LIMIT_CEILING_RPM',
  ],
  ['headers', bytes(maxHeaderSize), '431'],
  ['time for the headers', seconds(HEADERS_TIMEOUT_MS), '408'],
  ['body', bytes(BODY_BYTES), '413', 'GATEWAY_BODY_LIMIT_MB'],
  ['pace of a body', `${MIN_PACE}, or the rest`, '408; the connection closes'],
  ['time for headers and body', seconds(BODY_TIMEOUT_MS), 'the connection closes'],
  ['structure of a body', `${number(BODY_LIMITS.structure)} of \`{ } [ ] , :\` outside strings`, '413'],
  ['nesting of a body', `${BODY_LIMITS.depth} levels`, '400'],
  ['members of a body', `${BODY_LIMITS.members} at the top level`, '400'],
  ['a `role`', `${MAX_ROLE_LENGTH} characters`, '400'],
  ['prompts of a completion, inputs of embeddings', number(MAX_INPUTS), '400'],
  ['a header to or from a provider', `${bytes(MAX_VALUE_LENGTH)} of printable ASCII`, 'dropped'],
  ['wait for PostgreSQL', seconds(DATABASE_TIMEOUT_MS), '503'],
  [
    `reading bodies over ${bytes(SMALL_BODY_BYTES)} and fast answers`,
    `${perSecond(BYTES_PER_INTERVAL)}, ${perSecond(BYTES_PER_INTERVAL_OF_OWNER)} for an organisation`,
    'they wait',
  ],
  [
    `parsing bodies over ${bytes(SMALL_BODY_BYTES)}, in threads up to ${medium} and beyond`,
    `${MAX_QUEUED_OF_OWNER} of an organisation wait, up to ${seconds(TIMEOUT_MS)}; ${seconds(TIMEOUT_MS)} to parse one`,
    '503',
  ],
  [
    'counting tokens in the main thread',
    `${OWN.burstMs} ms at once and ${percent(OWN.perMs)} of the time for an organisation; ${SHARED.burstMs} ms and ${percent(SHARED.perMs)} more for all`,
    'the threads above count the rest',
  ],
  [
    'counting tokens in those threads',
    `${LANES.mediumCountMs} ms up to ${medium}, then ${LANES.largeCountMs} ms beyond; ${seconds(COUNT_WAIT_MS)} to wait for each; ${number(EXACT_CHARACTERS)} characters`,
    'each byte of the rest holds credit for a token',
  ],
  [
    'what is still sent after a refusal',
    `${bytes(DISCARDED_BYTES)} with a known key, ${bytes(DISCARDED_BYTES_OF_STRANGERS)} without`,
    'the connection closes',
  ],
  ['models on a page of `GET /v1/models`', number(MAX_MODELS), 'the next page, with `after_id`'],
];

const MEMORY: readonly Row[] = [
  [
    'bodies and answers in flight',
    `${bytes(BODIES_AT_ONCE * BODY_BYTES)}; for an organisation ${bytes(BODIES_AT_ONCE_OF_ONE * BODY_BYTES)}, and never more than it leaves free`,
    '503 for a body; an answer waits',
  ],
  [
    `bodies up to ${bytes(SMALL_BODY_BYTES)}`,
    `${bytes(SMALL_BODIES_BYTES)} besides, ${bytes(SMALL_BODIES_BYTES_OF_ONE)} for an organisation`,
    'they share the memory above',
  ],
  ['an answer', `${bytes(FREE_BYTES)} besides`, 'it shares the memory above'],
  [
    'heap of a thread that parses',
    `${heap(LANES.mediumBytes)} for bodies up to ${medium}, ${heap(BODY_BYTES)} for larger ones`,
    '413, for an answer 502; only the thread ends',
  ],
  [
    'connections to a provider',
    `${number(CONNECTIONS)} for each origin`,
    "requests wait, up to their route's time limit",
  ],
];

const ANSWERS: readonly Row[] = [
  ['time to connect', seconds(CONNECT_TIMEOUT_MS), 'the next target, or 502'],
  ['an unstreamed answer, except embeddings', bytes(MAX_ANSWER_BYTES), '502'],
  ['an event of a stream', bytes(MAX_EVENT_BYTES), 'an error event'],
  ['values in an answer or an event', number(MAX_VALUES), '502, or an error event'],
  [`nesting beyond ${bytes(SHALLOW_BYTES)}`, `${DEEPEST} levels`, '502, or an error event'],
  [
    'pace of an answer',
    `a stream ${pace(COSTS.events)}, a whole answer ${pace(COSTS.whole)}, vectors ${pace(COSTS.vectors)}`,
    'the rest is read at the pace of large bodies',
  ],
  ['usage after the end mark of a stream', `${MAX_LATE_USAGE_MS} ms`, 'settled by the tokens counted here'],
  [
    'earlier call ids that an answer does not repeat',
    `${number(MAX_KEPT_IDS)} of a conversation`,
    'may be repeated',
  ],
  [
    'items of translated responses, kept for an hour',
    `${number(MINUTE_ITEMS)} and ${bytes(ITEM_BYTES_OF_A_MINUTE)} of an organisation in a minute, ${bytes(MAX_ITEM_BYTES)} each`,
    'not kept',
  ],
  ['items that a body refers to', number(MAX_OWN_REFERENCES), '400'],
  ['wait for memory', seconds(MAX_WAIT_MS), '503, or an error event'],
  [
    'time for the caller to read',
    `${seconds(STALLED_MS)}, and ${seconds(PACED_MS)} for each ${bytes(PACED_BYTES)} begun`,
    'the connection closes',
  ],
  [
    'reading on after the caller left',
    `${seconds(READ_ON_MS)} and ${bytes(READ_ON_BYTES)}`,
    'the provider is disconnected',
  ],
  [
    'answers that are read on',
    `${MAX_READ_ONS}; ${MAX_READ_ONS_OF_ONE} of an organisation`,
    'disconnected; [the hold is billed](gateway.md#what-is-billed)',
  ],
];

const SETTLED = 'settled at the limit, `usage.impossible`';
const USAGE: readonly Row[] = [
  ['completion tokens', '`max_output_tokens` for each choice', SETTLED],
  [
    'completion tokens within that',
    'the output cap that was sent',
    'settled as reported, `usage.beyond_output_cap`',
  ],
  [
    'prompt tokens',
    `\`max_input_tokens\`, or the tokens counted here if more; ${MAX_TURNS} times that if the provider runs tools or compacts`,
    SETTLED,
  ],
  [
    'prompt tokens without `max_input_tokens`',
    `the bytes sent, and ${number(FRAME_TOKENS)}; ${number(MAX_CONTEXT)} more with an image, audio, a file or a hosted tool`,
    SETTLED,
  ],
  ['calls of each name', number(MAX_CALLS), SETTLED],
  ['figures of 0', 'without a prompt, or without text in the answer', 'settled by the tokens counted here'],
  [
    'totals',
    'the sum of their parts; reasoning and cached tokens may be beside the others',
    'settled by the larger; the difference is uncached input, output or one-hour cache writes; `usage.contradictory`',
  ],
];

const RECORDS: readonly Row[] = [
  [
    'metadata of a request',
    `${MAX_ENTRIES} entries, names of ${MAX_METADATA_NAME_LENGTH} characters`,
    'the others are dropped',
  ],
  ['a value of metadata', bytes(MAX_METADATA_VALUE_BYTES), 'cut'],
  ['names and values of a request', bytes(MAX_BYTES), 'cut, and named in `x-gatehouse-metadata-cut`'],
  ['those of a refused request', bytes(MAX_METADATA_BYTES_OF_REFUSED), 'cut'],
  [
    'those of an organisation in a minute',
    bytes(MINUTE_BYTES),
    `cut to ${ALWAYS_BYTES} bytes of each request, and named`,
  ],
  ['names in a header of the gateway', number(MAX_NAMES), '`...`'],
  [
    '`User-Agent`',
    `${bytes(MAX_USER_AGENT_LENGTH)}; ${bytes(MAX_USER_AGENT_OF_COUNTED_LENGTH)} in a combined row`,
    'cut',
  ],
  [
    'rows of refused requests and counts of tokens in a minute',
    `${ROW_LIMITS.singlesOfKey} of a key, ${ROW_LIMITS.singles} of an organisation`,
    `one for each key, status and code in ${seconds(COUNT_INTERVAL_MS)}`,
  ],
  ['such combined rows in a minute', `${ROW_LIMITS.counts} of an organisation`, 'rows without a key'],
  [
    'log lines of refused requests in a minute',
    `${LINE_LIMITS.singlesOfKey} of a key, ${LINE_LIMITS.singles} of an organisation; ${LINE_LIMITS.singles} of all callers without a known key, ${LINE_LIMITS.singlesOfKey} of these alike`,
    `one for equal ones in ${seconds(COUNT_INTERVAL_MS)} (\`gateway.requests_counted\`)`,
  ],
];

const ECHO: readonly Row[] = [
  ['characters of all choices of an answer', number(LARGE_ECHO.characters), 'cut, finish reason `length`'],
  ['choices of an answer', number(MAX_CHOICES), '400'],
  ['characters of all inputs of embeddings', number(MAX_INPUT_CHARACTERS), '400'],
  ['dimensions of an embedding', number(MAX_DIMENSIONS), '400'],
  ['numbers of all embeddings of an answer', number(LARGE_ECHO.numbers), '400'],
];

const SECTIONS: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  ['Requests', REQUESTS],
  ['Memory of one gateway process', MEMORY],
  ['Answers of providers', ANSWERS],
  ['Usage that a provider reports', USAGE],
  ['Metadata, rows and lines', RECORDS],
  ['demo/echo', ECHO],
];

/** docs/gateway-limits.md. */
export function limitsDocument(): string {
  const sections = SECTIONS.map(([title, rows]) =>
    [
      `## ${title}`,
      '',
      '| | limit | beyond it |',
      '|---|---|---|',
      ...rows.map(
        ([what, limit, beyond, setting]) =>
          `| ${what} | ${limit}${setting ? ` (\`${setting}\`)` : ''} | ${beyond} |`,
      ),
    ].join('\n'),
  );
  return `# Limits of the gateway

<!-- Written by \`npm run generate\` from gateway/src/limits-document.ts. -->

Each gateway process counts for itself, except the rate of a key. Figures that grow with [\`GATEWAY_BODY_LIMIT_MB\`](configuration.md) are those of its default.
[gateway.md](gateway.md#errors) explains the statuses, [log-events.md](log-events.md) the events \`usage.*\`.

${sections.join('\n\n')}
`;
}
