import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';

// The health check of the image (deploy/docker/Dockerfile).
const PROGRAM = join(import.meta.dirname, '../setup/healthcheck.mjs');

async function exitCode(environment: Record<string, string>): Promise<unknown> {
  const child = spawn(process.execPath, [PROGRAM], { env: environment, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code;
}

it('the health check reads settings as the service does: an empty one is unset', async () => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const PORT = String((server.address() as AddressInfo).port);
  try {
    // Both ports are the same listener, so that no other program's is asked.
    const settings = { PORT: ` ${PORT} `, GATEWAY_PORT: PORT, TLS_CERT: ' ' };
    assert.equal(await exitCode(settings), 0);
    status = 503;
    assert.equal(await exitCode(settings), 1);
  } finally {
    server.close();
  }
});
