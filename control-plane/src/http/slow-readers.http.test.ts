import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { ACCESS_COOKIE, analytics, type OrganizationId, type UserId } from '@gatehouse/contract';
import { UnreadAnswers } from '@gatehouse/http';
import { Metrics } from '@gatehouse/observability';
import { pino } from 'pino';
import { TEST_SETTINGS } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';
import { ApiMetrics } from './api-metrics.ts';
import { type Reply, type StreamedReply, withSession } from './implement.ts';
import { createServer } from './server.ts';

const MIB = 1024 * 1024;
/** Far more than a connection of this machine buffers. */
const ANSWER = 'x'.repeat(12 * MIB);
const PATH = `/api${analytics.getSummary.path}`;

const KINDS: Readonly<Record<string, () => Reply<never> | StreamedReply>> = {
  whole: () => ({ body: { text: ANSWER } as never }),
  streamed: () => ({
    pieces: (async function* () {
      yield Buffer.from(JSON.stringify({ text: ANSWER }));
    })(),
    contentType: 'application/json; charset=utf-8',
  }),
};

/** The real adapter, whose callers are of the organisation that their token names. */
async function startServer(reply: () => Reply<never> | StreamedReply) {
  const delays = new Map<() => void, number>();
  const timers = {
    after(ms: number, callback: () => void) {
      delays.set(callback, ms);
      return () => delays.delete(callback);
    },
  };
  const unreadAnswers = new UnreadAnswers({ limitBytes: 40 * MIB, shareBytes: 30 * MIB, timers });
  const logLines: Record<string, unknown>[] = [];
  const server = createServer({
    implementations: [withSession(analytics.getSummary, async () => reply())],
    findSession: async (token) => ({
      id: 's',
      userId: 'u' as UserId,
      email: 'a@example.com',
      role: 'member',
      joinedAt: '',
      organizationId: token.reveal() as OrganizationId,
      organizationName: 'O',
    }),
    organizationPermit: () => ({ [Symbol.dispose]: () => undefined }),
    missing: async () => [],
    metrics: new ApiMetrics(new Metrics()),
    recordsFrom: () => () => () => assert.fail('nothing is recorded'),
    log: pino({ level: 'debug' }, { write: (line: string) => logLines.push(JSON.parse(line)) }),
    settings: TEST_SETTINGS,
    unreadAnswers,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    port,
    delays,
    unreadAnswers,
    closed: () =>
      logLines
        .filter((line) => line['unread'])
        .map((line) => [line['organization_id'], line['gone'], line['status']]),
    async [Symbol.asyncDispose]() {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

describe('callers that do not read their answers', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Sends a request, and reads nothing of its answer. */
  const stall = async (port: number, organization: string): Promise<void> => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: x\r\ncookie: ${ACCESS_COOKIE}=${organization}\r\n\r\n`);
    await once(socket, 'readable');
  };
  const read = async (port: number, organization: string): Promise<number> => {
    const headers = { cookie: `${ACCESS_COOKIE}=${organization}` };
    const sent = request({ host: '127.0.0.1', port, path: PATH, headers, agent: false }).end();
    const [response] = await once(sent, 'response');
    return Buffer.concat(await response.toArray()).length;
  };

  for (const [kind, reply] of Object.entries(KINDS)) {
    it(`lose the oldest connections of their organisation, and take nothing from others: ${kind}`, async () => {
      await using started = await startServer(reply);
      const { port, unreadAnswers, closed } = started;
      await stall(port, 'b');
      for (let connections = 0; connections < 6; connections += 1) {
        await stall(port, 'a');
        assert.ok(unreadAnswers.bytes <= 40 * MIB, `${unreadAnswers.bytes} bytes`);
      }
      // Two of a fit into its share; the one of b stays.
      await waitFor('the connections that are closed', () => closed().length === 4);
      assert.deepEqual(closed(), Array(4).fill(['a', true, 200]));
      assert.equal(Math.round(unreadAnswers.bytes / MIB), 36);
      for (const organization of ['a', 'b', 'c'])
        assert.equal(await read(port, organization), ANSWER.length + 11);
    });

    it(`are closed after half a minute without progress: ${kind}`, async () => {
      await using started = await startServer(reply);
      const { port, unreadAnswers, closed, delays } = started;
      await stall(port, 'a');
      await waitFor('a full connection', () => delays.size === 1);
      const [[tooLate, ms] = []] = [...delays];
      assert.equal(ms, 30_000);
      tooLate?.();
      await waitFor('the connection that is closed', () => closed().length === 1);
      assert.deepEqual([unreadAnswers.bytes, delays.size], [0, 0]);
    });
  }
});
