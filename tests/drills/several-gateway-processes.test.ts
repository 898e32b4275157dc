import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { completion, json } from '@gatehouse/gateway/testing';
import { eventually, type ServiceProcess } from '../service-process.ts';
import { trial } from './credit-trials.ts';
import { type Fleet, setRateLimit, startFleet } from './gateway-fleet.ts';
import { answeredBy, gatewayPids, killUnderLoad } from './gateway-kills.ts';
import { nothingTold, race } from './revocation-races.ts';

// Short forms of the drills revocation.ts, credit.ts and rate.ts over two processes on one port, and kills of these processes.

const CONNECTIONS = 64;

describe('two gateway processes on one port', () => {
  let fleet: Fleet;
  let service: ServiceProcess;
  before(async () => {
    fleet = await startFleet({ onOnePort: true });
    service = fleet.services[0] as ServiceProcess;
  });
  after(() => fleet?.[Symbol.asyncDispose]());

  it('200 from both for the connections of one client', async () => {
    const { secret } = await fleet.mint();
    const statuses = await Promise.all(Array.from({ length: CONNECTIONS }, () => fleet.ask(0, secret)));
    assert.ok(statuses.every((status) => status === 200));
    await eventually(async () => {
      const counts = answeredBy(service);
      return (counts.get(1) ?? 0) + (counts.get(2) ?? 0) === CONNECTIONS || undefined;
    });
    // Fewer by chance: less than once in a million.
    for (const number of [1, 2]) assert.ok((answeredBy(service).get(number) ?? 0) >= 12);
  });

  it('401 for every request that begins after the DELETE of its key was answered', async () => {
    const told = nothingTold();
    for (let number = 0; number < 30; number += 1) await race(fleet, told, number);
    assert.equal(told.races, 30);
    assert.ok(told.served > 0 && told.refused >= 30 * 4);
  });

  it('402 or 429 for what a key’s limit does not cover, of 200 requests at once, and 200 for the rest', async () => {
    for (let number = 0; number < 3; number += 1) await trial(fleet);
  });

  it('429 for what is more than the rate of a key, over both, also after one of them was replaced', async () => {
    const { id, secret } = await fleet.mint();
    await fleet.database.run(setRateLimit, { keyId: id, rateLimitRpm: 50 });
    const askAll = async () => {
      const statuses = await Promise.all(Array.from({ length: 100 }, () => fleet.ask(0, secret)));
      assert.ok(
        statuses.every((status) => status === 200 || status === 429),
        statuses.join(),
      );
      return statuses.filter((status) => status === 200).length;
    };
    assert.equal(await askAll(), 50);
    const pid = gatewayPids(service).get(1) as number;
    process.kill(pid, 'SIGKILL');
    await eventually(async () => gatewayPids(service).get(1) !== pid || undefined);
    assert.equal(await askAll(), 0);
  });

  it('200 from the other while one is killed, and from both again, with each answered request settled once', async () => {
    const { answered } = await killUnderLoad(fleet, 2);
    assert.ok(answered >= 150);
  });

  it('200 for what is in flight in both when the service is stopped', async () => {
    const { secret } = await fleet.mint();
    const release = Promise.withResolvers<void>();
    const answer = json(completion('x', { prompt: 8, completion: 10 }));
    const all = Promise.withResolvers<void>();
    let asked = 0;
    fleet.provider.script = async (response, one) => {
      asked += 1;
      if (asked === CONNECTIONS) all.resolve();
      await release.promise;
      await answer(response, one);
    };
    const statuses = Promise.all(Array.from({ length: CONNECTIONS }, () => fleet.ask(0, secret)));
    await Promise.race([statuses, all.promise]);
    const ended = service.end('SIGTERM');
    await eventually(async () => service.told().includes('Stopping') || undefined);
    release.resolve();
    assert.ok((await statuses).every((status) => status === 200));
    assert.equal(await ended, 0);
  });
});
