import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { proxiesFor } from '@gatehouse/http/outgoing';
import { createCertificate, startProxy } from '@gatehouse/http/testing';
import { createTestDatabase, runSql } from '@gatehouse/store/testing';
import { addRoute, issueKey, startTestGateway } from '../testing/index.ts';

/** The full command sends ten times as many. */
const REQUESTS = casesOf(1, 1).isWhole ? 10_000 : 1_000;
const AT_ONCE = 20;
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 },
});

describe('a proxy that drops every hundredth connection', () => {
  it(`of ${REQUESTS} requests bills none twice and loses none`, async () => {
    await using stack = new AsyncDisposableStack();
    const name = 'provider.example';
    const certificate = createCertificate({ names: [name] });
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-dropping-'));
    stack.defer(() => rm(folder, { recursive: true }));
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, certificate.cert);
    // Each connection has one request.
    const provider = createServer(certificate, (request, response) => {
      const head = { 'content-type': 'application/json', connection: 'close' };
      request.resume().on('end', () => response.writeHead(200, head).end(ANSWER));
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    stack.defer(() => {
      provider.closeAllConnections();
      provider.close();
    });
    let tunnels = 0;
    let dropped = 0;
    const proxy = stack.use(
      await startProxy((provider.address() as AddressInfo).port, {
        onTunnel(caller, server) {
          tunnels += 1;
          if (tunnels % 100 !== 0) return;
          dropped += 1;
          // In turn at once, with the first bytes of TLS, with the answer, and in the middle of it.
          const pieces = [0, 1, 3, 4][dropped % 4] ?? 0;
          let seen = 0;
          const drop = () => {
            caller.destroy();
            server.destroy();
          };
          if (pieces === 0) drop();
          else
            server.on('data', () => {
              seen += 1;
              if (seen >= pieces) drop();
            });
        },
      }),
    );
    const { database } = stack.use(await createTestDatabase());
    const key = await issueKey(database, { rateLimitRpm: 1_000_000 });
    await addRoute(database, { baseUrl: `https://${name}/v1`, flags: { caFile } });
    const gateway = stack.use(
      await startTestGateway(database, {
        proxyOf: proxiesFor({ http: undefined, https: proxy.url, exceptions: undefined }),
      }),
    );
    const statuses = new Map<number, number>();
    let sent = 0;
    const sendAll = async () => {
      while (sent < REQUESTS) {
        sent += 1;
        const answer = await gateway.chat(key.secret);
        await answer.arrayBuffer();
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendAll));
    await gateway.gateway.flush();
    const { records } = gateway.journal;
    // Each has one record, and the answers are those of the records.
    assert.equal(records.length, REQUESTS);
    assert.equal(new Set(records.map(({ requestId }) => requestId)).size, REQUESTS);
    const answered = records.filter(({ status }) => status === 200);
    assert.equal(answered.length, statuses.get(200));
    assert.ok(dropped >= REQUESTS / 100 - 1);
    assert.ok(answered.length >= REQUESTS - dropped, JSON.stringify([...statuses]));
    // Billed is what was answered, once.
    const costs = new Set(answered.map(({ costMicroPkr }) => costMicroPkr));
    assert.equal(costs.size, 1);
    const [cost = 0n] = costs;
    assert.ok(cost > 0n);
    const sum = records.reduce((all, { costMicroPkr }) => all + costMicroPkr, 0n);
    assert.equal(sum, BigInt(answered.length) * cost);
    const [money] = await runSql<{ taken: string }>(database)`
      SELECT spent_micro_pkr + held_micro_pkr AS taken FROM balances WHERE organization_id = ${key.organizationId}`;
    assert.equal(BigInt(money?.taken ?? -1), sum);
  });
});
