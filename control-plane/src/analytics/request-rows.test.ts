import assert from 'node:assert/strict';
import { it } from 'node:test';
import { referenceCsvLine, referenceNdjsonLine } from '../testing/reference-request-rows.ts';
import { seeded } from '../testing/seeded.ts';
import { requestCsvLine } from './request-csv.ts';
import { requestLogEntry } from './request-entry.ts';
import type { RequestRow } from './telemetry.ts';

const KEY = '00000000-0000-4000-9000-000000000001';
const PROJECT = '00000000-0000-4000-a000-000000000001';
const TEXTS = [
  '',
  'gpt-5-mini',
  '=1',
  '\uFF1D1',
  'a,b',
  'say "a"',
  'a\r\nb',
  "'",
  'é😀\u2028',
  '\\',
  '__proto__',
];
const NUMBERS = [0, 0.1, 3, 812.5, 1234.5678];
const COUNTS = ['0', '64', '9007199254740993', '18446744073709551615'];
const COSTS = [
  '0',
  '1',
  '-1',
  '100000',
  '8200001',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
];
const TIMES = [
  '0',
  '1',
  '999999',
  '951782399999999',
  '1795170600123456',
  '1795219199999999',
  '4102444799999999',
];

it('rows of the request log are those written by hand, in NDJSON and in CSV', () => {
  const { pick, below } = seeded(29);
  const orNull = <T>(value: T): T | null => (below(4) === 0 ? null : value);
  for (let round = 0; round < 2_000; round += 1) {
    const names = {
      keys: new Map(below(2) ? [[KEY, pick(TEXTS)]] : []),
      projects: new Map(below(2) ? [[PROJECT, pick(TEXTS)]] : []),
    };
    const metadata = `{${Array.from({ length: below(4) }, () => `${JSON.stringify(pick(TEXTS))}:${JSON.stringify(pick(TEXTS))}`).join()}}`;
    const row: RequestRow = {
      request_id: pick(TEXTS),
      timestamp_micros: pick(TIMES),
      model: pick(TEXTS),
      status: pick([200, 429, 502]),
      stream: pick([true, false]),
      key_id: orNull(KEY),
      project_id: orNull(PROJECT),
      total_ms: pick(NUMBERS),
      ttft_ms: orNull(pick(NUMBERS)),
      tpot_ms: orNull(pick(NUMBERS)),
      pre_dispatch_ms: pick(NUMBERS),
      prompt_tokens: orNull(pick(COUNTS)),
      tokens_generated: pick(COUNTS),
      cache_creation_input_tokens: orNull(pick(COUNTS)),
      cache_read_input_tokens: orNull(pick(COUNTS)),
      total_tokens: pick(COUNTS),
      tokens_estimated: pick([true, false]),
      cost_micro_pkr: pick(COSTS),
      is_byok: pick([0, 1] as const),
      termination_reason: pick(['success', 'proxy_guillotine', 'client_disconnect'] as const),
      upstream_error: orNull(pick(TEXTS)),
      upstream_model: orNull(pick(TEXTS)),
      user_agent: pick(TEXTS),
      metadata: JSON.parse(metadata),
      request_count: pick([1, 2, 4_294_967_295]),
    };
    assert.equal(`${JSON.stringify(requestLogEntry(row, names))}\n`, referenceNdjsonLine(row, names));
    assert.equal(requestCsvLine(row, names), referenceCsvLine(row, names));
  }
});
