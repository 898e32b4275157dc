import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readableLine } from './readable-line.ts';

const line = (entry: object) =>
  readableLine(`${JSON.stringify({ time: 0, ...entry })}\n`).slice('00:00:00  '.length);

describe('a line of the log at a terminal', () => {
  it('is one short line for a request, of the API and of the gateway', () => {
    assert.match(readableLine('{"time":0,"level":30,"msg":"request"}\n'), /^\d\d:\d\d:00 {2}/);
    assert.equal(
      line({
        level: 30,
        request_id: 'r',
        method: 'GET',
        path: '/api/keys',
        status: 200,
        ms: 3.4,
        msg: 'request',
      }),
      '200      3 ms  GET     /api/keys\n',
    );
    assert.equal(
      line({
        level: 30,
        request_id: 'r',
        operation: 'createChatCompletion',
        method: 'POST',
        path: '/v1/chat/completions',
        key_prefix: 'sk_svc_abcdefgh',
        model: 'demo/echo',
        status: 503,
        ms: 1_234.5,
        remark: 'PostgreSQL cannot be used',
        msg: 'request',
      }),
      '503   1235 ms  POST    /v1/chat/completions  demo/echo  sk_svc_abcdefgh  PostgreSQL cannot be used\n',
    );
    assert.equal(
      line({
        level: 40,
        method: 'POST',
        path: '/v1/messages',
        status: 502,
        ms: 12,
        model: 'openai/gpt',
        cost_pkr: '0',
        refusal: 'upstream_error',
        failed_provider: 'openai',
        failure: 'answered 500',
        msg: 'request',
      }),
      '502     12 ms  POST    /v1/messages  openai/gpt  0 PKR  upstream_error  warn: openai answered 500\n',
    );
    assert.match(line({ level: 30, method: 'GET', path: '/', gone: true, ms: 1, msg: 'request' }), /^gone /);
  });

  it('shows the level of warnings and errors, the error and the other fields', () => {
    assert.equal(line({ level: 30, msg: 'catalogue loaded', routes: 3 }), 'catalogue loaded routes=3\n');
    assert.equal(
      line({
        level: 30,
        event: 'clickhouse.ready',
        pid: 3,
        service: 'gatehouse',
        version: '0.1.0',
        role: 'api',
        store_role: 'leader',
        msg: 'embedded ClickHouse ready',
      }),
      'embedded ClickHouse ready store_role=leader\n',
    );
    assert.equal(
      line({
        level: 50,
        event: 'gateway.process_ended',
        pid: 7,
        signal: 'SIGKILL',
        msg: 'it ended',
        err: { message: 'no' },
      }),
      'error: it ended (no) signal=SIGKILL\n',
    );
  });

  it('leaves out what the text at the start says, and counts long lists', () => {
    assert.equal(
      readableLine('{"time":0,"level":30,"event":"service.ready","msg":"ready","api_port":1}\n'),
      '',
    );
    const steps = ['1', '2', '3', '4', '5', '6'];
    assert.equal(line({ level: 30, msg: 'migrated', steps }), 'migrated steps=(6)\n');
    assert.equal(line({ level: 30, msg: 'migrated', steps: [1] }), 'migrated steps=[1]\n');
  });

  it('stays one line of bounded length with any content', () => {
    const text = line({
      level: 40,
      msg: 'a\nb',
      name: '\u001b[2J\u202e',
      long: 'x'.repeat(5_000),
      list: [1, [2]],
    });
    assert.equal(text.split('\n').length, 2);
    assert.ok(text.length < 400);
    assert.match(text, /^warn: a\\u\{a\}b name=\\u\{1b\}\[2J\\u\{202e\} /);
  });
});
