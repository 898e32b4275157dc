import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { itemsOf } from '@gatehouse/concurrency/testing';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type OwnSettings, startBrowser, startOwnBrowser } from './browser.ts';
import { findWholeChromium } from './chromium.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';
import { findSidewaysScroll, pathsOfPages } from './pages.ts';

// What a browser says of itself, and the interfaces that it may refuse.

const NO_ZONE = 'All times are in UTC, because this browser has no valid time zone';

async function enter(page: Page, { owner }: DashboardService): Promise<void> {
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Password').fill(owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const LOOKS = [
  ['light', 1440],
  ['dark', 390],
] as const;
const PAGES_WITH_CHARTS = ['/', '/requests', '/errors'];

/** Chromium's own setting, as a person or an administrator makes it. */
const BLOCKED_COOKIES = { profile: { default_content_setting_values: { cookies: 2 } } };

describe('the dashboard in a browser that says odd things of itself', () => {
  const service = duringTests(() => startDashboardService({ rows: 200 }));
  const browser = duringTests(() => startBrowser(service.origin));

  const cases: readonly (readonly [title: string, settings: OwnSettings, hasZone: boolean, isEach?: true])[] =
    [
      ['TZ=PKT-5', { environment: { TZ: 'PKT-5' } }, false, true],
      ['an empty TZ', { environment: { TZ: '' } }, false],
      ['a misspelt TZ', { environment: { TZ: 'Asia/Karachee' } }, false],
      ['the language C', { args: ['--accept-lang=C'], environment: { TZ: 'Asia/Karachi' } }, true, true],
      [
        'a language with a charset',
        { args: ['--accept-lang=en-US@posix'], environment: { TZ: 'UTC' } },
        true,
      ],
      ['a language written from right to left', { args: ['--accept-lang=ur-PK'] }, true],
    ];
  for (const [title, settings, hasZone, isEach] of itemsOf(cases)) {
    it(`shows ${isEach ? 'every page' : 'its charts'} with ${title}`, async () => {
      await using own = await startOwnBrowser(service.origin, settings);
      await using visit = await own.visit();
      await visit.signIn(await service.signIn());
      for (const path of isEach ? await pathsOfPages(visit) : PAGES_WITH_CHARTS) {
        await visit.open(path);
        await visit.page.locator('main h1').waitFor();
        assert.equal(await visit.page.getByRole('alert').count(), 0, path);
        assert.equal(await visit.page.getByText(NO_ZONE).count(), hasZone ? 0 : 1, path);
      }
    });
  }

  it('says above each page that its times are in UTC, and what the browser calls its zone', async () => {
    await using own = await startOwnBrowser(service.origin, { environment: { TZ: 'Asia/Karachee' } });
    for (const [theme, width] of LOOKS) {
      await using visit = await own.visit({ theme, width });
      await visit.signIn(await service.signIn());
      await visit.open('/');
      await visit.page.getByText('(it says “Etc/Unknown”)').waitFor();
      await assertAccessible(visit.page);
      assert.deepEqual(await findSidewaysScroll(visit.page), []);
      await visit.screenshot(`utc-${theme}-${width}`);
    }
  });

  it('counts hours and days in UTC, in charts, the calendar and the expiry of a key, where there is no zone', async () => {
    await using own = await startOwnBrowser(service.origin, { environment: { TZ: 'PKT-5' } });
    await using visit = await own.visit();
    await visit.signIn(await service.signIn());
    const { page } = visit;
    const zones: (string | null)[] = [];
    page.on('request', (request) => {
      const { searchParams, pathname } = new URL(request.url());
      if (pathname === '/api/analytics/trend' && searchParams.has('time_zone'))
        zones.push(searchParams.get('time_zone'));
    });
    await visit.open('/?from=2026-10-01T00:00:00Z&to=2026-11-15T00:00:00Z');
    assert.ok(zones.length > 0 && zones.every((zone) => zone === 'UTC'), zones.join());
    await page.getByRole('button', { name: /^Time range/ }).click();
    await page.getByText('Days and hours of UTC.').waitFor();
    assert.equal(
      await page
        .getByRole('spinbutton', { name: /hour.*From/ })
        .first()
        .textContent(),
      '0',
    );
    await page.keyboard.press('Escape');

    await visit.open('/keys');
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await page.getByRole('button', { name: /Expires/ }).click();
    await page.getByRole('option', { name: 'At a date' }).click();
    await page.getByLabel('Date and time (UTC)').waitFor();
  });

  // Pages run these before their own scripts. A property that is defined so cannot be defined again.
  const patches: readonly (readonly [title: string, script: string])[] = [
    ['a language that cannot be changed', `Object.defineProperty(navigator, 'language', { get: () => 'C' })`],
    ['no language', `Object.defineProperty(navigator, 'language', { value: null })`],
    ['an empty language', `Object.defineProperty(Navigator.prototype, 'language', { get: () => '' })`],
    [
      'a zone of an extension',
      `const { resolvedOptions } = Intl.DateTimeFormat.prototype;
      Intl.DateTimeFormat.prototype.resolvedOptions = function () {
        return { ...resolvedOptions.call(this), timeZone: 'Mars/Olympus' };
      };`,
    ],
    [
      'no storage, channels, locks, clipboard or observers',
      `for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });
      for (const name of ['BroadcastChannel', 'ResizeObserver', 'Notification'])
        Object.defineProperty(window, name, { value: undefined });
      for (const name of ['locks', 'clipboard']) Object.defineProperty(navigator, name, { value: undefined });`,
    ],
    [
      'interfaces that refuse',
      `window.BroadcastChannel = function () { throw new DOMException('denied', 'SecurityError'); };
      LockManager.prototype.request = LockManager.prototype.query = () =>
        Promise.reject(new DOMException('The request was denied.', 'SecurityError'));
      Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };`,
    ],
    [
      'rubbish where the page keeps what it knows',
      `for (const key of ['gatehouse.theme', 'gatehouse.refreshed-at', 'gatehouse.google', 'tsr-scroll-restoration-v1_3'])
        for (const store of [localStorage, sessionStorage]) store.setItem(key, '{"a":[1e999,');
      history.replaceState('rubbish', '');
      new BroadcastChannel('gatehouse.session').postMessage(null);`,
    ],
  ];
  for (const [title, script] of itemsOf(patches)) {
    it(`signs in and shows its charts with ${title}`, async () => {
      await using visit = await browser.visit();
      await visit.context.addInitScript(script);
      await visit.open('/sign-in?return=/activity');
      await enter(visit.page, service);
      await visit.page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
      for (const path of PAGES_WITH_CHARTS) {
        await visit.open(path);
        await visit.page.locator('main h1').waitFor();
        assert.equal(await visit.page.getByRole('alert').count(), 0, path);
      }
    });
  }

  for (const year of itemsOf(['1970', '2001', '2099', '+200000'])) {
    it(`shows the windows and ages of the service's time on a device whose clock says ${year}`, async () => {
      await using visit = await browser.visit();
      await visit.context.clock.setFixedTime(new Date(`${year}-01-01T00:00:00Z`));
      await visit.signIn(await service.signIn());
      const { page } = visit;
      const from = new Date(Date.now() - 86_400_000).toISOString();
      for (const path of PAGES_WITH_CHARTS) {
        await visit.open(`${path}?from=${from}`);
        assert.equal(await page.getByRole('alert').count(), 0, path);
      }
      await page.getByRole('button', { name: /^Time range/ }).click();
      await page.getByRole('grid', { name: /2026/ }).waitFor();
      await page.keyboard.press('Escape');
      await visit.open('/keys');
      assert.doesNotMatch(await page.getByRole('main').innerText(), /\b(in \d+|\d+ years?)\b/);
    });
  }

  it('asks to sign in where cookies are blocked, and says before and after why nobody stays signed in', {
    skip: findWholeChromium() ? false : 'the Chromium of Debian is not installed',
  }, async () => {
    await using own = await startOwnBrowser(service.origin, { preferences: BLOCKED_COOKIES });
    for (const [theme, width] of LOOKS) {
      await using visit = await own.visit({ theme, width });
      const { page } = visit;
      await visit.open('/keys');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      assert.equal(new URL(page.url()).search, '?return=/keys');
      await page.getByText(`This browser blocks cookies for ${new URL(service.origin).host}.`).waitFor();
      await assertAccessible(page);
      assert.deepEqual(await findSidewaysScroll(page), []);
      await visit.screenshot(`blocked-cookies-${theme}-${width}`);
      await enter(page, service);
      await page
        .getByRole('alert')
        .getByText('Allow cookies for this address, then sign in again.')
        .waitFor();
      await visit.screenshot(`blocked-cookies-signed-in-${theme}-${width}`);
      await visit.open('/register');
      await page.getByText('This browser blocks cookies').waitFor();
    }
  });
});
