import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CSV_HEADER, requestCsvLine } from './request-csv.ts';
import { decimal } from './request-formats.ts';
import type { RequestRow } from './telemetry.ts';

const KEY = '00000000-0000-4000-9000-000000000001';
const PROJECT = '00000000-0000-4000-a000-000000000001';

const ROW: RequestRow = {
  request_id: 'req-1',
  timestamp_micros: '1795170600123456',
  model: 'a/one',
  status: 200,
  stream: true,
  key_id: KEY,
  project_id: PROJECT,
  total_ms: 1234.5,
  ttft_ms: 100.25,
  tpot_ms: 0.1,
  pre_dispatch_ms: 0,
  prompt_tokens: '9007199254740993',
  tokens_generated: '20',
  cache_creation_input_tokens: '0',
  cache_read_input_tokens: '7',
  total_tokens: '27',
  tokens_estimated: false,
  cost_micro_pkr: '8200001',
  is_byok: 1,
  termination_reason: 'success',
  upstream_error: 'reset',
  upstream_model: 'one-2026',
  user_agent: 'curl/8',
  metadata: {},
  request_count: 1,
};
const NAMES = { keys: new Map([[KEY, 'backend']]), projects: new Map([[PROJECT, 'Default']]) };

const columns = CSV_HEADER.trimEnd().split(',');

/** The text of one column, given that no other holds a comma. */
function cell(column: string, given: Partial<RequestRow>): string {
  const at = columns.indexOf(column);
  const line = requestCsvLine({ ...ROW, ...given }, NAMES);
  assert.ok(line.endsWith('\r\n'));
  const parts = line.slice(0, -2).split(',');
  return parts.slice(at, parts.length - (columns.length - at - 1)).join(',');
}

describe('requestCsvLine', () => {
  it('has a column for every field, in an order that stays', () => {
    assert.deepEqual(columns, [
      ...['req_id', 'timestamp', 'model', 'status', 'stream'],
      ...['key_id', 'key_name', 'project_id', 'project_name'],
      ...['total_ms', 'ttft_ms', 'tpot_ms', 'pre_dispatch_ms'],
      ...['prompt_tokens', 'tokens_generated', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
      ...['total_tokens', 'tokens_estimated', 'cost_pkr', 'is_byok', 'termination_reason'],
      ...['upstream_error', 'upstream_model', 'user_agent', 'metadata', 'request_count'],
    ]);
    assert.equal(
      requestCsvLine(ROW, NAMES),
      `req-1,2026-11-20T10:30:00.123456Z,a/one,200,true,${KEY},backend,${PROJECT},Default,1234.5,100.25,0.1,0,` +
        '9007199254740993,20,0,7,27,false,8.200001,1,success,reset,one-2026,curl/8,{},1\r\n',
    );
  });

  it('leaves a cell empty for null, and quotes it for a text of no length', () => {
    for (const column of ['key_id', 'project_id', 'ttft_ms', 'tpot_ms', 'upstream_error', 'upstream_model'])
      assert.equal(cell(column, { [column]: null }), '', column);
    for (const column of ['prompt_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'])
      assert.equal(cell(column, { [column]: null }), '', column);
    assert.equal(cell('key_name', { key_id: null }), '');
    assert.equal(cell('key_name', { key_id: PROJECT }), '');
    assert.equal(cell('project_name', { project_id: KEY }), '');
    for (const column of ['upstream_error', 'upstream_model', 'user_agent'])
      assert.equal(cell(column, { [column]: '' }), '""', column);
  });

  it('quotes what holds a comma, a quote or the end of a line', () => {
    for (const [value, expected] of [
      ['a,b', '"a,b"'],
      ['say "a"', '"say ""a"""'],
      ['"', '""""'],
      ['a\nb', '"a\nb"'],
      ['a\r\nb', '"a\r\nb"'],
      ['a b;c\td', 'a b;c\td'],
      ["it's", "it's"],
      ['café 😀', 'café 😀'],
    ] as const) {
      assert.equal(cell('user_agent', { user_agent: value }), expected);
    }
    assert.equal(cell('metadata', { metadata: { 'a,b': 'c"d\n' } }), '"{""a,b"":""c\\""d\\n""}"');
  });

  it('lets no spreadsheet take a text for a formula', () => {
    const fullWidth = ['\uFF1D1', '\uFF0B1', '\uFF0D1', '\uFF20x'];
    for (const value of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', ...fullWidth])
      assert.equal(cell('user_agent', { user_agent: value }), `'${value}`);
    assert.equal(cell('user_agent', { user_agent: '\r=1' }), `"'\r'=1"`);
    assert.equal(cell('user_agent', { user_agent: '\n=1' }), `"'\n'=1"`);
    assert.equal(cell('user_agent', { user_agent: '=1,"2"' }), `"'=1,""2"""`);
    for (const column of ['model', 'upstream_error', 'upstream_model'])
      assert.equal(cell(column, { [column]: '=1' }), "'=1", column);
    assert.equal(cell('req_id', { request_id: '@1' }), "'@1");
    const names = { keys: new Map([[KEY, '-key']]), projects: new Map([[PROJECT, '+project']]) };
    assert.match(requestCsvLine(ROW, names), new RegExp(`,${KEY},'-key,${PROJECT},'\\+project,`));
    assert.equal(cell('user_agent', { user_agent: 'x;=1' }), "x;'=1");
    for (const separator of [';', '\t', '|']) {
      for (const first of ['=', '+', '-', '@', ...fullWidth]) {
        const [text, guarded] = [`a${separator}${first}1`, `a${separator}'${first}1`];
        assert.equal(cell('user_agent', { user_agent: text }), guarded);
        assert.equal(
          cell('model', { model: `${text}${separator}${first}` }),
          `${guarded}${separator}'${first}`,
        );
      }
    }
    for (const end of ['\n', '\r', '\r\n'])
      assert.equal(cell('upstream_error', { upstream_error: `a${end}=1` }), `"a${end}'=1"`);
    assert.equal(cell('user_agent', { user_agent: ';"=1' }), `";""'=1"`);
    assert.equal(cell('user_agent', { user_agent: '=1;-1\t\t@x' }), "'=1;'-1\t\t'@x");
    for (const value of ["'=1", ' =1', 'a=1', '']) assert.ok(!cell('model', { model: value }).includes("''"));
  });

  it('leaves every other text as it is', () => {
    const ids = ['01985d7e-3c2a-7b41-9f60-5a1c2e8d4b73', 'f1985d7e-3c2a-7b41-9f60-5a1c2e8d4b73'];
    const beginnings = [...'0123456789:<>?abcdefghijklmnopqrstuvwxyz '];
    const texts = ['a;b', 'a; +b', 'a;\tb', 'a|b', ';1', 'compatible; Bot/1.0; https://example.com/a-b?c=d'];
    for (const value of [...ids, ...texts, ...beginnings, ...beginnings.map((first) => `${first}=1`)]) {
      assert.equal(cell('req_id', { request_id: value }), value);
      assert.equal(cell('user_agent', { user_agent: value }), value);
    }
  });

  it('lets no spreadsheet take metadata for a formula, and leaves them the same JSON', () => {
    const metadata = { 'a;=b': 'x;-1;"=2', tab: '\t=1', c: ';\uFF1D;b|@' };
    const written = cell('metadata', { metadata });
    assert.ok(!/[;|\t\r\n]"*[=+\-@\uFF1D]/.test(written), written);
    assert.deepEqual(JSON.parse(written.slice(1, -1).replaceAll('""', '"')), metadata);
  });

  it('writes money as a decimal, to the last micro-PKR', () => {
    for (const [cost, expected] of [
      ['0', '0'],
      ['1', '0.000001'],
      ['100000', '0.1'],
      ['1000000', '1'],
      ['9223372036854775807', '9223372036854.775807'],
      ['-1', '-0.000001'],
    ] as const) {
      assert.equal(cell('cost_pkr', { cost_micro_pkr: cost }), expected);
    }
  });
});

describe('decimal', () => {
  for (const [value, expected] of [
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [1234.5678, '1234.5678'],
    [1e-6, '0.000001'],
    [1e-7, '0.0000001'],
    [1.25e-7, '0.000000125'],
    [-1.25e-7, '-0.000000125'],
    [5e-324, `0.${'0'.repeat(323)}5`],
    [1e21, `1${'0'.repeat(21)}`],
    [1.5e21, `15${'0'.repeat(20)}`],
    [1.23456789e21, '1234567890000000000000'],
  ] as const) {
    it(`writes ${value} without an exponent`, () => {
      assert.equal(decimal(value), expected);
      assert.equal(Number(decimal(value)), Number(value) || 0);
    });
  }
});
