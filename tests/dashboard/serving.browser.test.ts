import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';

describe('the dashboard in Chromium', () => {
  const service = duringTests(() => startDashboardService());
  const browser = duringTests(() => startBrowser(service.origin));

  it('opens under the policy, without an error, an outside request or a serious violation', async () => {
    for (const theme of ['light', 'dark'] as const) {
      await using visit = await browser.visit({ theme });
      await visit.signIn(await service.signIn());
      await visit.open('/');
      await assertAccessible(visit.page);
    }
  });

  it('finds what a test must not miss', async () => {
    await using visit = await browser.visit();
    await visit.open('/');
    const { page } = visit;
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('style'), { textContent: 'i{}' }))`,
    );
    await page.evaluate(`fetch('http://127.0.0.1:9/').catch(() => undefined)`);
    await page.evaluate(`(() => { try { document.body.innerHTML = '<b>x</b>'; } catch {} })()`);
    await page.evaluate(`setTimeout(() => { throw new Error('thrown by a page'); })`);
    await page.evaluate(`alert('shown by a page')`);
    const found = visit.problems.found().join('\n');
    assert.match(found, /style-src/);
    assert.match(found, /127\.0\.0\.1:9/);
    assert.match(found, /TrustedHTML/);
    assert.match(found, /thrown by a page/);
    assert.match(found, /shown by a page/);
    visit.problems.forget();
  });
});
