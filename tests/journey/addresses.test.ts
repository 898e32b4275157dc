import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { type ServiceProcess, startService } from '../service-process.ts';

// What the service says about its own addresses, and whether it answers there.

const PUBLIC_NAME = 'gw.example.com';

describe('the addresses of a service', () => {
  let directory: string;
  let service: ServiceProcess;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-addresses-'));
    service = await startService({
      DATA_DIR: join(directory, 'data'),
      PUBLIC_GATEWAY_URL: `https://${PUBLIC_NAME}`,
    });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const ask = (port: number, path: string, host = '127.0.0.1') =>
    new ApiClient(port).raw({ method: 'GET', path, headers: { host } });

  it('the gateway answers at the host that GET /service names, and the API does not', async () => {
    const { text } = await ask(service.apiPort, '/api/service');
    assert.equal(new URL(JSON.parse(text).gateway_url).host, PUBLIC_NAME);
    // Without a key.
    assert.equal((await ask(service.gatewayPort, '/v1/models', PUBLIC_NAME)).status, 401);
    assert.equal((await ask(service.gatewayPort, '/v1/models', 'other.example.com')).status, 421);
    assert.equal((await ask(service.apiPort, '/api/service', PUBLIC_NAME)).status, 421);
  });

  it('the API says where the gateway is to a client that takes it for one', async () => {
    const { status, text } = await ask(service.apiPort, '/v1/models');
    assert.equal(status, 404);
    assert.ok(JSON.parse(text).error.endsWith(` the gateway at https://${PUBLIC_NAME}/v1.`), text);
  });

  it('the API says to a program where the gateway and the dashboard are', async () => {
    const { status, text } = await ask(service.apiPort, '/');
    assert.equal(status, 200);
    assert.ok(text.includes(`\nModel requests go to the gateway at https://${PUBLIC_NAME}/v1.\n`), text);
    assert.match(text, /^The dashboard is at this address: open it in a browser\.$/m);
  });
});
