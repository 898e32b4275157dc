import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';

import { useTestEngine } from '@gatehouse/embedded/testing';
import { createCertificate } from '@gatehouse/http/testing';
import {
  createTelemetryClient,
  migrateTelemetry,
  queryRows,
  rawSql,
  startDeadline,
  type TelemetryServer,
  telemetryQuery,
} from '@gatehouse/store';
import { startHttpForwarder } from '@gatehouse/store/testing';
import { clickhouseFailure } from './clickhouse-failure.ts';

// A ClickHouse server as far as the client can tell: the engine behind TCP and TLS.

const select = telemetryQuery<{ one: number }>(rawSql('SELECT 1 AS one'));

describe('ClickHouse as a server', async () => {
  const telemetry = await useTestEngine();
  const stack = new AsyncDisposableStack();
  const own = createCertificate({ names: ['127.0.0.1'] });
  const elsewhere = createCertificate({ names: ['clickhouse.example.com'] });
  let ca: string;
  let otherCa: string;

  before(async () => {
    const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-ch-')), (path) =>
      rm(path, { recursive: true }),
    );
    ca = join(directory, 'ca.pem');
    otherCa = join(directory, 'other.pem');
    await writeFile(ca, own.cert);
    await writeFile(otherCa, elsewhere.cert);
  });
  after(() => stack.disposeAsync());

  /** The port of a listener that passes every connection on to the engine. */
  async function listen(create: (onConnection: (socket: Socket) => void) => Server): Promise<number> {
    const sockets = new Set<Socket>();
    const server = create((socket) => {
      const onward = connect(telemetry.engine.socketPath);
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) {
        sockets.add(end);
        end.on('error', () => [socket, onward].forEach((one) => void one.destroy()));
      }
    });
    stack.defer(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }
  const tls = (certificate: ReturnType<typeof createCertificate>) =>
    listen((onConnection) => createTlsServer(certificate, onConnection));
  const tcp = () => listen((onConnection) => createServer(onConnection));

  async function rows(target: TelemetryServer) {
    await using client = createTelemetryClient(target, { database: null });
    return await queryRows(client, select, startDeadline(20_000));
  }
  async function failure(target: TelemetryServer): Promise<string> {
    try {
      await rows(target);
    } catch (error) {
      return clickhouseFailure(error);
    }
    return 'no failure';
  }

  it('verifies the certificate, against the file of CA certificates where one is given', async () => {
    const [right, wrong] = [await tls(own), await tls(elsewhere)];
    const url = (port: number) => `https://user:pass@127.0.0.1:${port}`;
    assert.deepEqual(await rows({ url: url(right), caFile: ca }), [{ one: 1 }]);
    assert.match(await failure({ url: url(right) }), /^its certificate signs itself; set CLICKHOUSE_CA_FILE/);
    assert.match(await failure({ url: url(right), caFile: otherCa }), /^its certificate signs itself/);
    assert.match(await failure({ url: url(wrong), caFile: otherCa }), /^its certificate is for another host/);
  });

  it('says when a port speaks another protocol', async () => {
    const [encrypted, plain] = [await tls(own), await tcp()];
    assert.match(
      await failure({ url: `https://127.0.0.1:${plain}` }),
      /^the port does not speak TLS; use http/,
    );
    assert.match(
      await failure({ url: `http://127.0.0.1:${encrypted}` }),
      /ECONNRESET|socket hang up|speak HTTP/,
    );
  });

  it('says that it is not ClickHouse, or too old', async () => {
    for (const [status, body, code, expected] of [
      [
        404,
        '<html>\n<body>Not found</body>\n</html>',
        undefined,
        /^what answers there is not ClickHouse; correct the host and the port \(<html>\)$/,
      ],
      [404, '{"error":"not found"}', undefined, /^what answers there is not ClickHouse;/],
      [
        500,
        "Code: 115. DB::Exception: Unknown setting 'x'. (UNKNOWN_SETTING)\n",
        '115',
        /^the server does not know what it is asked; ClickHouse 24\.3 or newer/,
      ],
    ] as const) {
      await using server = await startHttpForwarder(telemetry.engine.socketPath, () => ({
        status,
        body,
        ...(code && { code }),
      }));
      assert.match(await failure({ url: server.url }), expected);
    }
  });

  it('migrates, stores and answers over TLS as over the socket', async () => {
    const target = { url: `https://127.0.0.1:${await tls(own)}/over_tls`, caFile: ca };
    assert.ok((await migrateTelemetry(target)).length > 0);
    assert.deepEqual(await migrateTelemetry(target), []);
    await using client = createTelemetryClient(target);
    const counted = telemetryQuery<{ rows: string }>(rawSql('SELECT count() AS rows FROM request_log'));
    assert.deepEqual(await queryRows(client, counted, startDeadline(20_000)), [{ rows: '0' }]);
  });

  it('says what to do when the profile of the user forbids settings, or a right is missing', async () => {
    // The words of the engine, for a session that a profile has made read-only.
    const answers = {
      164: [
        `Cannot modify 'max_memory_usage' setting in readonly mode. (READONLY)`,
        /set readonly to 0 in it/,
      ],
      452: [
        `Setting max_memory_usage shouldn't be greater than 1000. (SETTING_CONSTRAINT_VIOLATION)`,
        /constrains a setting/,
      ],
      497: [`u: Not enough privileges. To execute this query ... (ACCESS_DENIED)`, /lists the grants/],
      516: [`u: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)`, /is not accepted/],
    } as const;
    for (const [code, [words, expected]] of Object.entries(answers)) {
      const body = `Code: ${code}. DB::Exception: ${words} (version 26.7.2.1)\n`;
      await using server = await startHttpForwarder(telemetry.engine.socketPath, () => ({
        status: 500,
        body,
        code,
      }));
      const found = await failure({ url: server.url });
      assert.match(found, expected);
      assert.ok(found.length < 260, found);
    }
  });

  it('limits the memory, time and rows of each query, and makes it read-only', async () => {
    await using server = await startHttpForwarder(telemetry.engine.socketPath, ({ text }) => ({ text }));
    await rows({ url: server.url });
    const sent = server.queries[0]?.parameters;
    assert.deepEqual(
      ['max_memory_usage', 'max_rows_to_read', 'max_result_rows', 'readonly'].map((name) => sent?.get(name)),
      [String(512 * 1024 ** 2), '2000000000', '1000000', '2'],
    );
    assert.ok(Number(sent?.get('max_execution_time')) <= 20);
  });
});
