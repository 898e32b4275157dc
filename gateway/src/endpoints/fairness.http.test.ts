import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { hashGatewayKey } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey, startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

const CONNECTIONS = 8;
// As many as a connection takes: one that is handled, and eight that wait.
const REQUESTS_EACH = 9;

/** The statements of one tenant that are held up. */
interface Hold {
  readonly statement: string;
  /** True if the parameters of a statement are the tenant's. */
  readonly isHeld: (parameters: Readonly<Record<string, unknown>>) => boolean;
}

const bench = await useBench();

describe('many requests of one key, pipelined over eight connections', () => {
  let other: IssuedKey;
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    other = await issueKey(bench.database);
  });

  /** A gateway on a database that holds those statements until told to let them go. */
  const startHolding = async ({ statement, isHeld }: Hold) => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: isHolding, resolve: begin } = Promise.withResolvers<void>();
    let held = 0;
    const hold = async (asked: { readonly name: string }, given: readonly unknown[]) => {
      if (asked.name !== statement || !isHeld((given[0] ?? {}) as Parameters<Hold['isHeld']>[0])) return;
      held += 1;
      begin();
      await isReleased;
    };
    const database: Database = {
      ...bench.database,
      async one(asked, ...given) {
        await hold(asked, given);
        return bench.database.one(asked, ...given);
      },
      async many(asked, ...given) {
        await hold(asked, given);
        return bench.database.many(asked, ...given);
      },
    };
    return { gateway: await startTestGateway(database), release, isHolding, held: () => held };
  };

  const pipeline = (gateway: TestGateway, path: string) => {
    const request = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key.secret}\r\n\r\n`;
    const body = JSON.stringify({ model: 'mock/model', messages: [{ role: 'user', content: 'Hi' }] });
    const chat = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key.secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write((path === '/v1/models' ? request : chat).repeat(REQUESTS_EACH));
    return socket;
  };
  const logged = (gateway: TestGateway, key: IssuedKey) =>
    gateway.logged.filter((line) => line['msg'] === 'request' && line['key_prefix'] === key.prefix).length;

  const lookedUp = (): Hold => {
    const hash = hashGatewayKey(bench.key.secret);
    return {
      statement: 'gateway-list-keys',
      isHeld: ({ secretHashes }) => (secretHashes as Buffer[]).some((one) => one.equals(hash)),
    };
  };
  const admitted = (): Hold => ({
    statement: 'gateway-admit',
    isHeld: ({ organizationIds }) => (organizationIds as string[]).includes(bench.key.organizationId),
  });

  for (const { title, path, hold } of [
    { title: 'its key is looked up', path: '/v1/models', hold: lookedUp },
    { title: 'they are admitted', path: '/v1/chat/completions', hold: admitted },
  ]) {
    it(`200 for another key before any of them, while ${title}`, async () => {
      const { gateway, release, isHolding, held } = await startHolding(hold());
      await using _ = gateway;
      const sockets = Array.from({ length: CONNECTIONS }, () => pipeline(gateway, path));
      const answers = sockets.map(async (socket) => {
        let text = '';
        for await (const chunk of socket) {
          text += chunk;
          if (text.split('HTTP/1.1 ').length - 1 === REQUESTS_EACH) break;
        }
        return text;
      });
      // One statement serves all who ask at once: the others ask once the first is under way.
      await isHolding;
      for (let count = 0; count < 20; count += 1) {
        const response = await gateway.chat(other.secret);
        assert.equal(response.status, 200);
        await response.text();
      }
      assert.equal(logged(gateway, bench.key), 0);
      assert.equal(held(), 1, 'one at once');
      release();
      for (const text of await Promise.all(answers)) {
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
        assert.equal(statuses.length, REQUESTS_EACH);
        assert.deepEqual(new Set(statuses), new Set(['200']));
      }
    });
  }

  it('503 past a thousand that wait, and for no other key', async () => {
    const { gateway, release } = await startHolding(lookedUp());
    await using _ = gateway;
    const headers = { authorization: `Bearer ${bench.key.secret}` };
    const refused = Promise.withResolvers<Response>();
    const all = Array.from({ length: 1_200 }, () =>
      gateway.fetch('/v1/models', { headers }).then((response) => {
        if (response.status === 503) refused.resolve(response);
        return response.text();
      }),
    );
    assert.equal((await refused.promise).headers.get('retry-after'), '1');
    const response = await gateway.chat(other.secret);
    assert.equal(response.status, 200);
    await response.text();
    release();
    await Promise.all(all);
    // It was looked up again, and only the rate is used up by the thousand that were.
    assert.equal((await gateway.fetch('/v1/models', { headers })).status, 429);
  });
});
