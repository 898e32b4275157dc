import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createListener, type Listener } from './listener.ts';
import { createCertificate } from './testing/certificate.ts';

const certificate = createCertificate();

for (const protocol of ['HTTP', 'HTTPS']) {
  describe(`what an ${protocol} listener parses at once`, () => {
    let listener: Listener;
    let socket: Socket;
    let arrived: number;
    let begun: number;

    beforeEach(async () => {
      arrived = 0;
      begun = 0;
      listener = createListener({
        headersTimeoutMs: 60_000,
        requestTimeoutMs: 60_000,
        answersExpectations: false,
        answersDuringHandling: true,
        ...(protocol === 'HTTPS' && { certificate }),
        malformed: {
          headers: {},
          newRequestId: () => 'id',
          bodies: { 400: 'malformed', 408: 'late', 431: 'large' },
          log: () => undefined,
        },
        onRequest: async ({ request, response }) => {
          begun += 1;
          response.end(`${request.url} has ${(await text(request)).length}\n`);
        },
      });
      listener.server.on('request', () => {
        arrived += 1;
      });
      const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
      const address = { host: '127.0.0.1', port };
      socket = protocol === 'HTTPS' ? connectTls({ ...address, ca: certificate.cert }) : connect(address);
      await once(socket, protocol === 'HTTPS' ? 'secureConnect' : 'connect');
    });
    afterEach(async () => {
      socket.destroy();
      listener.server.closeAllConnections();
      await listener.drain();
    });

    const get = (path: string) => `GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const post = (path: string, body: string) =>
      `POST /${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    /** The text so far, once it has this in it. */
    const receivedUntil = async (wanted: string) => {
      let all = '';
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        all += chunk;
        if (all.includes(wanted)) break;
      }
      return all;
    };
    const bodies = (answers: string) => answers.match(/^\/.* has \d+$/gm);

    it('is 1 KiB, however many requests a client sends', async () => {
      // Eight may wait, and one slice has 22 of these.
      socket.write(get('many').repeat(3_000));
      await once(socket.resume(), 'close');
      assert.equal(begun, 9);
      assert.ok(arrived > 9, `${arrived} were parsed`);
      assert.ok(arrived <= 9 + 1_024 / get('many').length + 1, `${arrived} were parsed`);
    });

    it('loses nothing of bodies and heads that are longer, and keeps their order', async () => {
      const lengths = [3_000_000, 1, 8_192, 8_191, 20_000, 70_000];
      const long = get('long').replace('\r\n\r\n', `\r\nx: ${'h'.repeat(12_000)}\r\n\r\n`);
      for (const length of lengths) {
        socket.write(post(String(length), 'b'.repeat(length)) + get('small') + long + get('end'));
        assert.deepEqual(bodies(await receivedUntil('/end has 0\n')), [
          ...[`/${length} has ${length}`, '/small has 0', '/long has 0', '/end has 0'],
        ]);
      }
    });

    it('ends with what is no request, after the answers to those before it', async () => {
      socket.write(`${get('good').repeat(8)}what is this\r\n\r\n${get('never').repeat(2_000)}`);
      const answers = await receivedUntil('malformed');
      assert.equal(bodies(answers)?.filter((body) => body === '/good has 0').length, 8);
      assert.ok(!answers.includes('/never'));
      await once(socket, 'close');
    });
  });
}
