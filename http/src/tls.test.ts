import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { type ConnectionOptions, connect as connectTls, getCiphers, type TLSSocket } from 'node:tls';
import { createListener } from './listener.ts';
import { createCertificate } from './testing/certificate.ts';
import type { Certificate } from './tls.ts';

const own = createCertificate();

async function start(certificate: Certificate = own) {
  const listener = createListener({
    headersTimeoutMs: 1_000,
    requestTimeoutMs: 1_000,
    answersExpectations: false,
    answersDuringHandling: true,
    certificate,
    malformed: {
      headers: {},
      newRequestId: () => 'id',
      bodies: { 400: 'malformed', 408: 'late', 431: 'large' },
      log: () => undefined,
    },
    onRequest: ({ response }) => response.end('answer'),
  });
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  return { listener, port };
}

/** Sends a request. Returns the answer, and which certificate the connection has. */
async function get(port: number, ca: readonly Buffer[], agent = new Agent()) {
  const sent = request({ host: '127.0.0.1', port, ca: [...ca], agent }).end();
  const [answer] = await once(sent, 'response');
  // Before the answer has ended: then the connection is the agent's.
  const serial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber;
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { text, serial };
}

describe('a listener with a certificate', () => {
  it('answers over TLS, to a client that trusts it', async () => {
    const { listener, port } = await start();
    assert.equal((await get(port, [own.cert])).text, 'answer');
    await assert.rejects(get(port, []), /self-signed certificate/);
    await listener.drain();
  });

  it('takes another certificate without losing a connection', async () => {
    const { listener, port } = await start();
    const next = createCertificate();
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = await get(port, [own.cert], kept);
    listener.useCertificate(next);
    // The open connection goes on with the certificate that it has; a new one has the new one.
    const onSame = await get(port, [own.cert], kept);
    assert.deepEqual(onSame, before);
    const onNew = await get(port, [next.cert]);
    assert.equal(onNew.text, 'answer');
    assert.notEqual(onNew.serial, before.serial);
    kept.destroy();
    await listener.drain();
  });

  it('closes a connection that speaks plain HTTP, and serves the next', async () => {
    const { listener, port } = await start();
    const plain = connect(port, '127.0.0.1');
    plain.end('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    plain.on('error', () => undefined);
    plain.resume();
    await once(plain, 'close');
    assert.equal((await get(port, [own.cert])).text, 'answer');
    await listener.drain();
  });

  it('answers what is not HTTP, over TLS', async () => {
    const { listener, port } = await start();
    const socket = connectTls({ host: '127.0.0.1', port, ca: [own.cert] });
    socket.end('not HTTP\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, /^HTTP\/1\.1 400 [\s\S]*malformed$/);
    await listener.drain();
  });

  for (const isRsa of [false, true]) {
    it(`speaks TLS 1.2 with forward secrecy and authenticated encryption only: ${isRsa ? 'RSA' : 'ECDSA'}`, async () => {
      const certificate = createCertificate({ isRsa });
      const { listener, port } = await start(certificate);
      /** The suite of a connection; undefined where there is none. */
      const suite = async (options: ConnectionOptions) => {
        const socket = connectTls({ host: '127.0.0.1', port, ca: [certificate.cert], ...options });
        const name = await once(socket, 'secureConnect').then(
          () => socket.getCipher().standardName,
          () => undefined,
        );
        socket.destroy();
        return name;
      };
      const accepted = async () => {
        const names = new Set<string | undefined>();
        // The client offers each suite that OpenSSL has, one at a time, whatever OpenSSL thinks of it.
        for (const cipher of getCiphers().filter((name) => !name.startsWith('tls_')))
          names.add(await suite({ maxVersion: 'TLSv1.2', ciphers: `${cipher.toUpperCase()}:@SECLEVEL=0` }));
        return [...names].filter((name) => name !== undefined).sort();
      };
      const kind = isRsa ? 'RSA' : 'ECDSA';
      const expected = ['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256'].map(
        (name) => `TLS_ECDHE_${kind}_WITH_${name}`,
      );
      const before = await accepted();
      listener.useCertificate(certificate);
      const after = await accepted();
      const newest = await suite({});
      await listener.drain();
      assert.deepEqual([before, after], [expected, expected]);
      assert.match(newest ?? '', /^TLS_(AES|CHACHA20)/);
    });
  }

  it('speaks nothing before TLS 1.2', async () => {
    const { listener, port } = await start();
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const socket = connectTls({ host: '127.0.0.1', port, ca: [own.cert], ...old });
    await assert.rejects(once(socket, 'secureConnect'));
    await listener.drain();
  });
});
