import { MIN_PACE } from './bodies/body-pace.ts';
import { SMALL_BODY_BYTES } from './bodies/held-body.ts';
import { BYTES_PER_INTERVAL, BYTES_PER_INTERVAL_OF_OWNER, INTERVAL_MS } from './bodies/intake.ts';
import { FREE_BYTES } from './bodies/kept-bytes.ts';
import {
  BODIES_AT_ONCE,
  BODIES_AT_ONCE_OF_ONE,
  SMALL_BODIES_BYTES,
  SMALL_BODIES_BYTES_OF_ONE,
} from './gateway.ts';
import { DISCARDED_BYTES, PACED_BYTES, PACED_MS, STALLED_MS } from './http/answers.ts';
import { BODY_TIMEOUT_MS, HEADERS_TIMEOUT_MS } from './http/server.ts';
import { DEEPEST, MAX_VALUES } from './protocols/answer-json.ts';
import { BODY_LIMITS } from './protocols/parse-body.ts';
import { MAX_VALUE_LENGTH } from './protocols/passed-headers.ts';
import { MAX_EVENT_BYTES } from './protocols/sse.ts';
import { MAX_QUEUED_OF_OWNER, TIMEOUT_MS } from './readers/reader-lane.ts';
import { BASE_HEAP_MB, COUNT_WAIT_MS, HEAP_PER_BODY_BYTE, LANES } from './readers/reader-pool.ts';
import { INTERVAL_MS as COUNT_INTERVAL_MS } from './refused/intervals.ts';
import { ROW_LIMITS } from './refused/refused-requests.ts';
import { LINE_LIMITS } from './refused/request-lines.ts';
import { COSTS, LEAK_PER_MS, MAX_WAIT_MS } from './steps/flow.ts';
import { MAX_ENTRIES, MAX_NAME_LENGTH, MAX_VALUE_BYTES } from './steps/metadata.ts';
import { ALWAYS_BYTES, MAX_BYTES, MINUTE_BYTES } from './steps/metadata-budget.ts';
import { READ_ON_BYTES, READ_ON_MS } from './steps/read-on.ts';
import { MAX_READ_ONS, MAX_READ_ONS_OF_ONE } from './steps/read-ons.ts';
import { MAX_USER_AGENT_LENGTH } from './steps/record.ts';
import { MAX_ANSWER_BYTES } from './steps/whole-answer.ts';
import { OWN, SHARED } from './tokens/count-time.ts';
import { EXACT_CHARACTERS } from './tokens/count-tokens.ts';
import { CONNECT_TIMEOUT_MS, CONNECTIONS } from './upstreams/http-upstream.ts';

/** The body limit where `GATEWAY_BODY_LIMIT_MB` is not set, in bytes: the figures of the page are for it. */
const BODY_BYTES = 16 * 1024 ** 2;

const number = (value: number) => value.toLocaleString('en-US');
const seconds = (milliseconds: number) => `${number(milliseconds / 1_000)} s`;
function bytes(value: number): string {
  if (value >= 1024 ** 2) return `${number(Math.round((value / 1024 ** 2) * 10) / 10)} MiB`;
  return value >= 1024 ? `${number(value / 1024)} KiB` : `${value} bytes`;
}
const pace = ({ ofByte, burst }: { readonly ofByte: number; readonly burst: number }) =>
  `${bytes((LEAK_PER_MS * 1_000) / ofByte)} a second after ${bytes(burst / ofByte)}`;
const perSecond = (value: number) => `${bytes((value / INTERVAL_MS) * 1_000)} a second`;
const heap = (largest: number) => `${BASE_HEAP_MB + (HEAP_PER_BODY_BYTE * largest) / 1024 ** 2} MiB`;

type Row = readonly [what: string, limit: string, beyond: string];

const REQUESTS: readonly Row[] = [
  ['the headers', seconds(HEADERS_TIMEOUT_MS), '408'],
  [
    'the body',
    `${bytes(BODY_BYTES)} (\`GATEWAY_BODY_LIMIT_MB\`): a full context window and several images`,
    '413',
  ],
  [
    'its structure',
    `${number(BODY_LIMITS.structure)} of \`{ } [ ] , :\` outside strings: hundreds of tools, or 300,000 tokens sent as numbers`,
    '413',
  ],
  [
    'its nesting, its members',
    `${BODY_LIMITS.depth} levels; ${BODY_LIMITS.members} at the top; each name once in its object`,
    '400',
  ],
  [
    'its pace',
    `${MIN_PACE}, or the rest; all of it in ${seconds(BODY_TIMEOUT_MS)}`,
    '408; the connection ends',
  ],
  [
    `reading bodies over ${bytes(SMALL_BODY_BYTES)}, and fast answers`,
    `${perSecond(BYTES_PER_INTERVAL)}, ${perSecond(BYTES_PER_INTERVAL_OF_OWNER)} of an organisation`,
    'they wait',
  ],
  [
    `parsing them, in threads: a lane up to ${bytes(LANES.mediumBytes)} and one beyond`,
    `${MAX_QUEUED_OF_OWNER} of an organisation wait, ${seconds(TIMEOUT_MS)} at most; the organisation with the least in progress is next`,
    '503',
  ],
  ['a header that passes', `${bytes(MAX_VALUE_LENGTH)} of printable ASCII`, 'it is dropped'],
  [
    'counting the tokens',
    `${OWN.burstMs} ms at once on the main thread and a hundredth of the time per organisation, ${SHARED.burstMs} ms and a tenth that all share; then ${LANES.mediumCountMs} ms in the first lane and ${LANES.largeCountMs} in the second, which it waits ${seconds(COUNT_WAIT_MS)} for; ${number(EXACT_CHARACTERS)} characters`,
    'each byte counts as a token, so more credit is held',
  ],
  ['what is sent after a refusal', `${bytes(DISCARDED_BYTES)} are read and discarded`, 'the connection ends'],
];

const MEMORY: readonly Row[] = [
  [
    'bodies and answers in flight',
    `${bytes(BODIES_AT_ONCE * BODY_BYTES)}; of an organisation ${bytes(BODIES_AT_ONCE_OF_ONE * BODY_BYTES)}, and never more than it leaves free`,
    '503',
  ],
  [
    `bodies up to ${bytes(SMALL_BODY_BYTES)}`,
    `${bytes(SMALL_BODIES_BYTES)} of their own, ${bytes(SMALL_BODIES_BYTES_OF_ONE)} of an organisation`,
    'they take of the room above',
  ],
  ['each answer', `${bytes(FREE_BYTES)} outside of it`, ''],
  [
    'a thread that parses',
    `${heap(LANES.mediumBytes)} of heap in the first lane, ${heap(BODY_BYTES)} in the second`,
    '413; the thread ends, not the process',
  ],
  [
    'connections to a provider',
    `${number(CONNECTIONS)} for each origin; ${seconds(CONNECT_TIMEOUT_MS)} to connect`,
    'requests wait within the time limit of their route',
  ],
];

const ANSWERS: readonly Row[] = [
  ['an unstreamed answer, except embeddings', bytes(MAX_ANSWER_BYTES), '502'],
  ['an event of a stream', bytes(MAX_EVENT_BYTES), 'an error event'],
  [
    'values in an answer or an event',
    `${number(MAX_VALUES)}; beyond 2 KiB ${DEEPEST} levels deep`,
    '502, or an error event',
  ],
  [
    'the pace of an answer',
    `a stream ${pace(COSTS.events)}, a whole answer ${pace(COSTS.whole)}, vectors ${pace(COSTS.vectors)}`,
    'the rest is read at the pace of large bodies',
  ],
  [
    'the room above is used up',
    `the provider is not read for ${seconds(MAX_WAIT_MS)}`,
    '503, or an error event',
  ],
  [
    'the caller does not read',
    `${seconds(STALLED_MS)}, and ${seconds(PACED_MS)} more for each ${bytes(PACED_BYTES)} begun`,
    'the connection ends; the work is billed',
  ],
  [
    'reading on after the caller left',
    `${seconds(READ_ON_MS)} and ${bytes(READ_ON_BYTES)}; ${MAX_READ_ONS} answers, ${MAX_READ_ONS_OF_ONE} of an organisation`,
    'the provider is left, and the hold is billed',
  ],
];

const RECORDS: readonly Row[] = [
  [
    'metadata of a request',
    `${MAX_ENTRIES} entries, names of ${MAX_NAME_LENGTH} characters, values of ${bytes(MAX_VALUE_BYTES)}, ${bytes(MAX_BYTES)} in all`,
    'cut; `x-gatehouse-metadata-cut` names it',
  ],
  [
    'metadata of an organisation',
    `${bytes(MINUTE_BYTES)} in a minute`,
    `${ALWAYS_BYTES} bytes of each request`,
  ],
  ['`User-Agent`', bytes(MAX_USER_AGENT_LENGTH), 'cut'],
  [
    'rows of refused requests',
    `${ROW_LIMITS.singlesOfKey} of a key and ${ROW_LIMITS.singles} of an organisation in a minute`,
    `one row for each key, status and code in ${seconds(COUNT_INTERVAL_MS)}`,
  ],
  ['such rows', `${ROW_LIMITS.counts} of an organisation in a minute`, 'rows without a key'],
  [
    'log lines of refused requests',
    `${LINE_LIMITS.singlesOfKey} of a key, ${LINE_LIMITS.singles} of an organisation, and ${LINE_LIMITS.singles} of all callers without a known key in a minute`,
    `one line for equal ones in ${seconds(COUNT_INTERVAL_MS)} (\`gateway.requests_counted\`)`,
  ],
];

const SECTIONS: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  ['Requests', REQUESTS],
  ['Memory of one gateway process', MEMORY],
  ['Answers of providers', ANSWERS],
  ['Metadata, rows and lines', RECORDS],
];

/** docs/gateway-limits.md. */
export function limitsDocument(): string {
  const sections = SECTIONS.map(([title, rows]) =>
    [
      `## ${title}`,
      '',
      '| | limit | beyond it |',
      '|---|---|---|',
      ...rows.map((row) => `| ${row.join(' | ')} |`),
    ].join('\n'),
  );
  return `# Limits of the gateway

Generated from the constants of the code. Each gateway process counts for itself. What depends on the size of a body is given for the default
of \`GATEWAY_BODY_LIMIT_MB\` and grows with it. A provider's work that the gateway gives up is billed by its usage where that can be read.

${sections.join('\n\n')}
`;
}
