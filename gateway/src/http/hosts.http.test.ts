import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

// A web page can make its own name resolve to this machine and read the answers.
describe('the host that a request is for', () => {
  let test: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    test = await createTestDatabase();
    const settings = { bodyLimitBytes: 100, allowedHosts: new Set(['gateway.example']) };
    gateway = await startTestGateway(test.database, { settings });
  });
  after(async () => {
    await gateway[Symbol.asyncDispose]();
    await test[Symbol.asyncDispose]();
  });

  const ask = async (lines: readonly string[], target = '/v1/models', version = '1.1') => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write([`GET ${target} HTTP/${version}`, ...lines, 'Connection: close', '', ''].join('\r\n'));
    const answer = await text(socket);
    return { status: Number(answer.split(' ')[1]), body: answer.split('\r\n\r\n')[1] ?? '' };
  };

  it('401, from the key check, for localhost, addresses and listed names', async () => {
    for (const host of [
      'localhost',
      `localhost:${gateway.port}`,
      '127.0.0.1:1',
      '[::1]:8081',
      '10.1.2.3',
      'gateway.example:443',
      'GATEWAY.example',
    ])
      assert.equal((await ask([`Host: ${host}`])).status, 401, host);
    assert.equal((await ask([], '/v1/models', '1.0')).status, 401);
  });

  it('421 for other names, whatever the request', async () => {
    for (const host of ['evil.example', 'evil.example:8081', 'gateway.example.evil.example'])
      for (const target of ['/v1/models', '/v1/chat/completions', '/', '/healthz/x'])
        assert.equal((await ask([`Host: ${host}`], target)).status, 421, `${host}${target}`);
    const { body } = await ask(['Host: evil.example']);
    const { error } = JSON.parse(body) as { error: Record<string, unknown> };
    assert.deepEqual(error, {
      message:
        'The host "evil.example" is not served here. Served are IP addresses, localhost and the names in ALLOWED_HOSTS.',
      type: 'invalid_request_error',
      param: null,
      code: 'host_not_served',
    });
  });

  it('421 for an absolute target of another name, and where only the header is another', async () => {
    assert.equal((await ask(['Host: localhost'], 'http://evil.example/v1/models')).status, 421);
    assert.equal((await ask(['Host: evil.example'], 'http://localhost/v1/models')).status, 421);
  });

  it('400 for two Host headers, an invalid one, and a missing one', async () => {
    for (const lines of [
      ['Host: localhost', 'Host: localhost'],
      ['Host: localhost', 'Host: evil.example'],
      ['Host: a b'],
      ['Host:'],
      [],
    ])
      assert.equal((await ask(lines)).status, 400, lines.join());
  });

  it('200 for health checks under any name', async () => {
    for (const path of ['/healthz', '/readyz?x=1'])
      assert.equal((await ask(['Host: balancer.example'], path)).status, 200);
  });
});
