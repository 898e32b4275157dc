import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { RateKeeperAddress } from '@gatehouse/gateway/rate-keeper';
import { pino } from 'pino';
import { cannotListen } from '../listen/listener.ts';
import type { GatewayChild } from './gateway-child.ts';
import { connectionsOfEach } from './gateway-connections.ts';
import { startGatewayProcesses } from './gateway-processes.ts';

const HOST = '127.0.0.1';
const FREE = 4711;

const options = (port: number) => ({
  environment: {},
  port,
  serviceLogin: { address: { url: 'postgres://unused' } },
  telemetryTarget: { url: 'http://unused' },
  masterKeys: [],
});

let dataDir: string;

/** Fake processes; that with the number `refusing` cannot listen. */
function start(count: number, refusing = 0) {
  const orders: (number | undefined)[][] = [];
  const keepers = new Set<RateKeeperAddress>();
  let ends = 0;
  let announced = 0;
  const startChild = (): GatewayChild => {
    const ended = Promise.withResolvers<{ exitCode: number; signal: null }>();
    const end = () => {
      ends += 1;
      ended.resolve({ exitCode: 0, signal: null });
      return ended.promise;
    };
    return {
      pid: 1,
      ended: ended.promise,
      async listen({ port, shared }) {
        const { number, count } = shared ?? {};
        orders.push([port, number, count]);
        if (shared?.rateKeeper) keepers.add(shared.rateKeeper);
        if (shared?.number === refusing) throw new Error('out of memory');
        return port || FREE;
      },
      metrics: async () => undefined,
      announceStop() {
        announced += 1;
      },
      stop: end,
      kill: end,
    };
  };
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const processes = startGatewayProcesses({ count, startChild, dataDir, log });
  return { processes, orders, keepers, lines, ends: () => ends, announced: () => announced };
}

describe('several gateway processes', () => {
  let held: Server;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-processes-'));
  });
  after(() => rm(dataDir, { recursive: true }));
  let heldPort: number;
  before(async () => {
    // As another Gatehouse with several processes would.
    held = createServer().listen({ port: 0, host: HOST, reusePort: true });
    await once(held, 'listening');
    heldPort = (held.address() as AddressInfo).port;
  });
  after(() => held.close());

  it('share the port that the first was given, and say which of them each is', async () => {
    const { processes, orders, keepers, lines } = start(3);
    assert.equal(await processes.listen(HOST, options(0)), FREE);
    assert.deepEqual(orders, [
      [0, 1, 3],
      [FREE, 2, 3],
      [FREE, 3, 3],
    ]);
    const [keeper] = keepers;
    assert.equal(keepers.size, 1, 'one counts for all');
    assert.ok(keeper && (await stat(keeper.path)).isSocket());
    await processes.close();
    assert.deepEqual(await readdir(join(dataDir, 'rates')), []);
    assert.deepEqual(
      lines.map(({ event, process, port }) => [event, process, port]),
      [1, 2, 3].map((number) => ['gateway.process_started', number, FREE]),
    );
  });

  it('are not shared with what listens there already', async () => {
    const { processes, orders } = start(2);
    await assert.rejects(processes.listen(HOST, options(heldPort)), {
      name: 'ConfigError',
      message: new RegExp(`GATEWAY_PORT is ${heldPort}, and another program already listens`),
    });
    assert.deepEqual(orders, []);
    await processes.close();
  });

  it('do not start when one of them cannot listen, and leave none behind', async () => {
    for (const refusing of [1, 3]) {
      const { processes, ends } = start(3, refusing);
      await assert.rejects(processes.listen(HOST, options(0)), /out of memory/);
      await processes.close();
      assert.equal(ends(), 3);
    }
  });

  it('are all told of a stop that is to come', async () => {
    const { processes, announced, ends } = start(3);
    await processes.listen(HOST, options(0));
    processes.announceStop();
    assert.deepEqual([announced(), ends()], [3, 0]);
    await processes.close();
  });

  it('is one that shares nothing unless there are more', async () => {
    const { processes, orders } = start(1);
    assert.equal(await processes.listen(HOST, options(0)), FREE);
    assert.deepEqual(orders, [[0, undefined, undefined]]);
    await processes.close();
  });

  it('are refused, by the name of the setting, on a system that does not share ports', () => {
    for (const code of ['ENOTSUP', 'ENOPROTOOPT']) {
      const error = Object.assign(new Error(`listen ${code}`), { code });
      assert.throws(() => cannotListen('GATEWAY_PORT', HOST, 1)(error), {
        name: 'ConfigError',
        message: /^GATEWAY_PROCESSES is more than 1, .*; expected 1$/,
      });
    }
  });

  it('divide the database connections among them', () => {
    assert.deepEqual(
      [1, 2, 8, 9, 16, 32, 64].map((count) => connectionsOfEach(count)),
      [8, 8, 8, 7, 4, 2, 2],
    );
  });
});
