import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Sockets, trackSockets } from './sockets.ts';

const TIMEOUT_MS = 200;
const LONG_MS = 60_000;

describe('the sockets of a pool that has ended', () => {
  let server: Server;
  const accepted: Socket[] = [];
  let sockets: Sockets;
  let socket: Socket;
  beforeEach(async () => {
    // As behind a partition, the end of a connection is not answered with one.
    server = createServer({ allowHalfOpen: true }, (one) => accepted.push(one));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    sockets = trackSockets();
    socket = sockets.open();
    socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
  });
  afterEach(async () => {
    for (const one of accepted.splice(0)) one.destroy();
    await new Promise((done) => server.close(done));
  });

  it('are closed after the time that a server has to hang up', async () => {
    socket.end();
    await sockets.closeAfter(Promise.resolve(), TIMEOUT_MS);
    assert.equal(socket.destroyed, true);
  });

  it('are waited for until their server hangs up', async () => {
    socket.resume().end();
    const closed = sockets.closeAfter(Promise.resolve(), LONG_MS);
    if (accepted.length === 0) await once(server, 'connection');
    accepted[0]?.end();
    await closed;
    assert.equal(socket.destroyed, true);
  });

  it('are closed although the pool has not ended', async () => {
    const ended = once(socket, 'close');
    await sockets.closeAfter(ended, TIMEOUT_MS);
    assert.equal(socket.destroyed, true);
  });
});
