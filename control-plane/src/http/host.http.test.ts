import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Endpoint, endpoints } from '@gatehouse/contract';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { head, talk } from '../testing/raw-connection.ts';
import { startTestApi } from '../testing/test-api.ts';

// A web page can make its own name resolve to this machine. The browser then treats the API as the page's own site.
describe('the host that a request is for', () => {
  const api = duringTests(() => startTestApi({ allowedHosts: new Set(['api.example']) }));

  const ask = (host: string, line = 'GET /api/auth/me HTTP/1.1') =>
    talk(api.port, head(line, { Host: host }));

  it('401, from the session check, for localhost, addresses and listed names', async () => {
    for (const host of [
      'localhost',
      `localhost:${api.port}`,
      '127.0.0.1:1',
      '[::1]:8080',
      '10.1.2.3',
      'api.example:443',
      'API.example',
    ])
      assert.equal((await ask(host)).status, 401, host);
  });

  it('421 for other names, on every endpoint and every path, without any change', async () => {
    const earlier = await dumpTables(api.database);
    for (const endpoint of endpoints as readonly Endpoint[])
      assert.equal(
        (await ask('evil.example', `${endpoint.method} ${somePath(endpoint)} HTTP/1.1`)).status,
        421,
      );
    for (const path of ['/', '/api', '/nowhere', '/healthz/x'])
      assert.equal((await ask('evil.example:8080', `GET ${path} HTTP/1.1`)).status, 421);
    assert.equal(await dumpTables(api.database), earlier);
  });

  it('421 with what is served, and the headers that every answer has', async () => {
    const answer = await ask('evil.example');
    assert.deepEqual(JSON.parse(answer.body), {
      error:
        'The host "evil.example" is not served here. Served are IP addresses, localhost and the names in ALLOWED_HOSTS.',
    });
    assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  });

  it('421 for a page of another name, though its Origin fits its Host', async () => {
    const headers = { Host: 'evil.example', Origin: 'http://evil.example', 'Sec-Fetch-Site': 'same-origin' };
    assert.equal((await talk(api.port, head('POST /api/auth/logout HTTP/1.1', headers))).status, 421);
  });

  it('421 for an absolute target of another name, and where only the header is another', async () => {
    assert.equal((await ask('localhost', 'GET http://evil.example/api/auth/me HTTP/1.1')).status, 421);
    assert.equal((await ask('evil.example', 'GET http://localhost/api/auth/me HTTP/1.1')).status, 421);
    assert.equal((await ask('localhost', 'GET http://localhost:8080/api/auth/me HTTP/1.1')).status, 401);
  });

  it('400 for two Host headers, and for an invalid one', async () => {
    for (const host of ['localhost\r\nHost: localhost', 'localhost\r\nHost: evil.example', 'a b', ''])
      assert.equal((await ask(host)).status, 400, host);
  });

  it('200 for health checks under any name', async () => {
    for (const path of ['/healthz', '/readyz?x=1'])
      assert.equal((await ask('balancer.example', `GET ${path} HTTP/1.1`)).status, 200);
  });
});
