import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { describe, it } from 'node:test';
import { ApiError } from '@gatehouse/contract';
import { readJsonBody } from './read-body.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('a caller that goes away', () => {
  const abandoned = async (read: (incoming: IncomingMessage) => Promise<unknown>) => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const server = createServer(resolve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      headers: { ...JSON_TYPE, 'content-length': '9' },
    });
    outgoing.on('error', () => undefined);
    outgoing.write('{"a":');
    try {
      const incoming = await promise;
      await assert.rejects(
        Promise.all([read(incoming), outgoing.destroy()]),
        (error) => error instanceof ApiError && error.status === 400,
      );
    } finally {
      server.close();
    }
  };

  it('leaves no handler behind, in the middle of the body', () => abandoned(readJsonBody));

  it('leaves no handler behind, before the body is read', () =>
    abandoned(async (incoming) => {
      await new Promise((resolve) => incoming.on('close', resolve));
      return readJsonBody(incoming);
    }));
});
