import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ProcessMetrics } from '@gatehouse/observability';
import { pino } from 'pino';
import { type GatewayChild, type ListenOptions, startGatewayChild } from './gateway-child.ts';
import { startGatewayProcess } from './gateway-process.ts';

const FIXTURE = join(import.meta.dirname, '../testing/gateway-process.fixture.ts');

const options = (behaviour = 'serve'): ListenOptions => ({
  environment: { BEHAVIOUR: behaviour },
  port: 0,
  serviceLogin: { address: { url: 'postgres://unused' } },
  telemetryTarget: { url: 'http://unused' },
  masterKeys: [],
});
const startChild = (more: { heapMb?: number; pingIntervalMs?: number } = {}) =>
  startGatewayChild({ heapMb: 64, environment: {}, main: FIXTURE, ...more });

describe('a gateway process', () => {
  it('reports its port, and stops on request', async () => {
    const child = startChild();
    assert.equal(await child.listen(options()), 4711);
    assert.deepEqual(await child.stop(), { exitCode: 0, signal: null });
  });

  it('reports why it does not listen, with the original error', async () => {
    const child = startChild();
    const expected = { name: 'ConfigError', message: 'not here', code: 'EADDRINUSE' };
    await assert.rejects(child.listen(options('refuse')), expected);
    await child.kill();
  });

  it('does not listen when it ends first', async () => {
    await assert.rejects(startChild().listen(options('end')), /ended with 3 before it listened/);
  });

  it('runs out of its own heap without affecting its parent', async () => {
    const child = startChild({ heapMb: 16 });
    await child.listen(options('eat'));
    assert.deepEqual(await child.ended, { exitCode: null, signal: 'SIGABRT' });
  });

  it('tells its metrics when it is asked', async () => {
    const child = startChild();
    await child.listen(options());
    const asked = (await child.metrics())?.own[0];
    assert.deepEqual(asked, { name: 'asked', series: [[[], 1]] });
    await child.stop();
    assert.equal(await child.metrics(), undefined);
  });

  it('collects what a connection brought without marking its whole heap', async () => {
    const child = startChild({ heapMb: 512 });
    await child.listen(options('receive'));
    const metrics = await child.metrics();
    await child.stop();
    const [, fullCollections] = metrics?.own ?? [];
    const [[, count = Number.NaN] = []] = (fullCollections?.series ?? []) as [string[], number][];
    // With V8's own limit there is one for every 64 MB: eight and more.
    assert.ok(count <= 2, `${count} full collections`);
  });

  it('is killed when it no longer answers', async () => {
    const child = startChild({ pingIntervalMs: 10 });
    await child.listen(options('hang'));
    assert.deepEqual(await child.ended, { exitCode: null, signal: 'SIGKILL' });
  });
});

/** Fake processes that a test ends, and a clock that it moves. */
function createProcesses() {
  let nowMs = 0;
  const started: {
    readonly ports: number[];
    readonly end: (exitCode: number) => void;
    readonly stops: number;
    readonly announced: number;
  }[] = [];
  const pauses: number[] = [];
  const entries: Record<string, unknown>[] = [];
  let onStart: (() => void) | undefined;
  let refusal: Error | undefined;
  let answer: ProcessMetrics | undefined = { own: [], runtime: [] };
  const startOne = (): GatewayChild => {
    const ended = Promise.withResolvers<{ exitCode: number | null; signal: null }>();
    const one = {
      ports: [] as number[],
      end: (exitCode: number) => ended.resolve({ exitCode, signal: null }),
      stops: 0,
      announced: 0,
    };
    started.push(one);
    const finish = () => {
      one.stops += 1;
      one.end(0);
      return ended.promise;
    };
    return {
      pid: started.length,
      ended: ended.promise,
      async listen({ port }) {
        one.ports.push(port);
        onStart?.();
        if (refusal) throw refusal;
        return port || 4711;
      },
      metrics: async () => answer,
      announceStop() {
        one.announced += 1;
      },
      stop: finish,
      kill: finish,
    };
  };
  const log = pino({ base: null, timestamp: false }, { write: (line) => entries.push(JSON.parse(line)) });
  const gateway = startGatewayProcess({
    startChild: startOne,
    log,
    clock: {
      monotonicMs: () => nowMs,
      async sleep(ms) {
        pauses.push(ms);
      },
    },
  });
  return {
    gateway,
    started,
    pauses,
    events: () => entries.map(({ level, event, pid }) => [level, event, pid]),
    pass: (ms: number) => {
      nowMs += ms;
    },
    refuse: (error: Error) => {
      refusal = error;
    },
    leaveUnanswered: () => {
      answer = undefined;
    },
    /** Ends the running process, and resolves when the next one was asked to listen. */
    async endLast() {
      const replaced = Promise.withResolvers<void>();
      onStart = () => replaced.resolve();
      started.at(-1)?.end(1);
      await replaced.promise;
      // The supervisor sees the answer before the test continues.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('keeping the gateway process running', () => {
  it('replaces an ended process at once, on the same port, and logs it', async () => {
    const { gateway, started, pauses, endLast, events } = createProcesses();
    assert.equal(await gateway.listen(options()), 4711);
    await endLast();
    assert.deepEqual(
      started.map(({ ports }) => ports),
      [[0], [4711]],
    );
    assert.deepEqual(pauses, [0]);
    await gateway.close();
    assert.deepEqual(events(), [
      [30, 'gateway.process_started', 1],
      [50, 'gateway.process_ended', 1],
      [30, 'gateway.process_started', 2],
    ]);
  });

  it('backs off from a process that ends repeatedly, and resets after a stable one', async () => {
    const { gateway, pauses, endLast, pass } = createProcesses();
    await gateway.listen(options());
    for (let n = 0; n < 10; n += 1) await endLast();
    assert.deepEqual(pauses, [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
    pass(10_000);
    await endLast();
    assert.equal(pauses.at(-1), 0);
    await gateway.close();
  });

  it('keeps trying when a replacement cannot listen', async () => {
    const { gateway, endLast, refuse, events, started } = createProcesses();
    await gateway.listen(options());
    refuse(new Error('the port is taken'));
    await endLast();
    assert.deepEqual(events().at(-1), [50, 'gateway.process_failed', undefined]);
    await endLast();
    assert.equal(started.length, 3);
    await gateway.close();
  });

  it('fails when the first process cannot listen, and starts no other', async () => {
    const { gateway, refuse, started, events } = createProcesses();
    refuse(new Error('the port is taken'));
    await assert.rejects(gateway.listen(options()), /the port is taken/);
    await gateway.close();
    assert.equal(started.length, 1);
    assert.deepEqual(events(), []);
  });

  it('tells its metrics, whether it answered and how often it was replaced', async () => {
    const { gateway, endLast, leaveUnanswered } = createProcesses();
    await gateway.listen(options());
    const told = async () =>
      Object.fromEntries((await gateway.metrics()).own.map(({ name, series }) => [name, series[0]?.[1]]));
    assert.deepEqual(await told(), { gatehouse_process_up: 1, gatehouse_process_restarts_total: 0 });
    await endLast();
    leaveUnanswered();
    assert.deepEqual(await told(), { gatehouse_process_up: 0, gatehouse_process_restarts_total: 1 });
    await gateway.close();
  });

  it('tells a stop that is to come also to a process that replaces another', async () => {
    const { gateway, started, endLast } = createProcesses();
    await gateway.listen(options());
    gateway.announceStop();
    await endLast();
    assert.deepEqual(
      started.map(({ announced }) => announced),
      [1, 1],
    );
    await gateway.close();
  });

  it('starts none while it closes, and stops the running one once', async () => {
    const { gateway, started } = createProcesses();
    await gateway.listen(options());
    await Promise.all([gateway.close(), gateway.close()]);
    assert.deepEqual(
      started.map(({ stops }) => stops),
      [1],
    );
  });
});
