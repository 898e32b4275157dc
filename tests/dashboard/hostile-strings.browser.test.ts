import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser, type Visit, type VisitOptions } from './browser.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';
import { addHostileData } from './hostile-data.ts';
import { HOSTILE_STRINGS } from './hostile-strings.ts';
import { findSidewaysScroll, nameOf, pathsOfPages } from './pages.ts';

// A violation of the policy, a request to anywhere else, an exception or a dialog fails the test that visits the page.

const PARAMETERS =
  'error ending cost offset live metadata range from to interval by group metric q search model key key_id project project_id status code page sort order request id open session name tab event actor provider return';

const IN_ADDRESSES = [...HOSTILE_STRINGS.slice(0, 9), '-1', '1e999', '2026-02-30T00:00:00Z', '0x10', 'null'];

describe('hostile strings in every field and figure', () => {
  const service: DashboardService = duringTests(() => startDashboardService({ rows: 50 }));
  const browser = duringTests(() => startBrowser(service.origin));
  let paths: readonly string[];

  const visit = async (options: VisitOptions = {}): Promise<Visit> => {
    const visit = await browser.visit(options);
    await visit.signIn(await service.signIn());
    return visit;
  };
  const assertNothingRan = async ({ page }: Visit, path: string) => {
    assert.equal(await page.evaluate('globalThis.hacked'), undefined, `a script ran on ${path}`);
    const foreign =
      'img[src="x"], iframe, script:not([src^="/assets/"]), style, [onerror], [onmouseover], [onbegin]';
    assert.equal(await page.locator(foreign).count(), 0, `a string became markup on ${path}`);
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    for (const href of links)
      assert.match(href ?? '', /^(\/(?!\/)|#)/, `a link of ${path} leaves the dashboard`);
  };
  before(async () => {
    await addHostileData(service);
    await using first = await visit();
    paths = await pathsOfPages(first);
  });

  it('are text on every page, which keeps its layout and stays accessible, on a screen and on a phone', async () => {
    await using seen = await visit();
    for (const path of paths) {
      await seen.page.setViewportSize({ width: 1280, height: 800 });
      await seen.open(path);
      await assertNothingRan(seen, path);
      await assertAccessible(seen.page);
      for (const width of [1280, 360]) {
        await seen.page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await findSidewaysScroll(seen.page), [], `${path} at ${width} px`);
        await seen.screenshot(`hostile-${nameOf(path)}-${width}`);
      }
    }
  });

  it('are text in the details of a request, on a phone too', async () => {
    const client = await service.signIn();
    const { requests } = await client.call(analytics.listRequests, { query: { time_range: '1h', limit: 3 } });
    assert.equal(requests.length, 3);
    await using seen = await visit({ width: 360 });
    for (const { req_id } of requests) {
      await seen.open(`/requests?range=1h&request=${req_id}`);
      await seen.page.getByRole('dialog').getByText(req_id).first().waitFor();
      await assertNothingRan(seen, req_id);
      assert.deepEqual(await findSidewaysScroll(seen.page), [], req_id);
    }
  });

  it('are dropped or shown as text when they come in the address', async () => {
    await using seen = await visit();
    for (const path of paths) {
      // Each parameter gets another text in each round.
      for (const round of [0, 1, 2]) {
        const search = new URLSearchParams(
          PARAMETERS.split(' ').map((name, index): [string, string] => [
            name,
            IN_ADDRESSES[(index + round) % IN_ADDRESSES.length] ?? '',
          ]),
        );
        await seen.open(`${path}?${search}#${HOSTILE_STRINGS[round]}`);
        await assertNothingRan(seen, path);
      }
    }
  });
});
