import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

type Tab = typeof import('./session-refresh.ts');

let tabs = 0;

/** Each has its own copy of the module, as in a process of its own. They share locks and cookies, and no storage. */
async function newTab(): Promise<Tab> {
  tabs += 1;
  return (await import(`./session-refresh.ts?tab=${tabs}`)) as Tab;
}

/** A service whose access cookie has expired. */
function startService(test: TestContext) {
  // The flag of a refresh is up for a minute.
  test.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 });
  const service = { isFresh: false, renewals: 0, questions: 0 };
  test.mock.method(globalThis, 'fetch', async () => {
    service.questions += 1;
    return new Response(undefined, { status: service.isFresh ? 200 : 401 });
  });
  const renew = async () => {
    service.renewals += 1;
    service.isFresh = true;
  };
  return { service, renew };
}

describe('renewing a session', () => {
  it('happens once for tabs that are refused at the same time', async (test) => {
    const { service, renew } = startService(test);
    const both = await Promise.all([newTab(), newTab(), newTab()]);
    await Promise.all(both.map((tab) => tab.refreshOnce(renew)));
    assert.equal(service.renewals, 1);
    assert.equal(service.questions, 2);
    test.mock.timers.tick(60_000);
  });

  it('happens again in the same minute where the new cookie is gone', async (test) => {
    const { service, renew } = startService(test);
    const tab = await newTab();
    await tab.refreshOnce(renew);
    service.isFresh = false;
    await tab.refreshOnce(renew);
    assert.equal(service.renewals, 2);
    test.mock.timers.tick(60_000);
  });

  it('happens before the cookie expires, although the service still takes it', async (test) => {
    const { service, renew } = startService(test);
    const tab = await newTab();
    await tab.refreshOnce(renew);
    test.mock.timers.tick(10 * 60_000);
    await tab.refreshOnce(renew);
    assert.equal(service.renewals, 1);
    test.mock.timers.tick(60_000);
    await tab.refreshOnce(renew);
    assert.equal(service.renewals, 2);
    test.mock.timers.tick(60_000);
  });

  it('rejects as the renewal does, and is tried again', async (test) => {
    const { service, renew } = startService(test);
    const tab = await newTab();
    await assert.rejects(
      tab.refreshOnce(() => Promise.reject(new Error('no answer'))),
      /no answer/,
    );
    await tab.refreshOnce(renew);
    assert.equal(service.renewals, 1);
    test.mock.timers.tick(60_000);
  });
});
