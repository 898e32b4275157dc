import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser, type Visit, type VisitOptions } from './browser.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';
import { findBadStops, findSidewaysScroll, nameOf, pathsOfPages } from './pages.ts';
import { SIZES, takeScreenshots } from './take-screenshots.ts';

// What holds for every page of the sidebar, whichever there are.

const PHONE = { width: 360, height: 740 };

describe('every page of the dashboard', () => {
  const service: DashboardService = duringTests(() => startDashboardService());
  const browser = duringTests(() => startBrowser(service.origin));
  let paths: readonly string[];

  const visit = async (options: VisitOptions): Promise<Visit> => {
    const visit = await browser.visit(options);
    await visit.signIn(await service.signIn());
    return visit;
  };
  before(async () => {
    await using first = await visit({});
    paths = await pathsOfPages(first);
  });

  it('has one main heading, a title, its mark in the sidebar, and no serious violation of WCAG, light', async () => {
    await using seen = await visit({});
    const titles = new Set<string>();
    for (const path of paths) {
      await seen.open(path);
      assert.equal(await seen.page.locator('h1').count(), 1, path);
      titles.add(await seen.page.title());
      const current = seen.page.locator('nav[aria-label="Pages"] li a[aria-current="page"]');
      assert.equal((await current.getAttribute('href'))?.split('?')[0], path);
      await assertAccessible(seen.page);
      await seen.screenshot(`${nameOf(path)}-light`);
    }
    assert.equal(titles.size, paths.length, [...titles].join());
  });

  it('has no serious violation, dark and on a phone, and scrolls sideways at no width', async () => {
    await using seen = await visit({ theme: 'dark', ...PHONE });
    for (const path of paths) {
      await seen.page.setViewportSize(PHONE);
      await seen.open(path);
      await assertAccessible(seen.page);
      await seen.screenshot(`${nameOf(path)}-dark-phone`);
      for (const width of [360, 768, 1280, 2560]) {
        await seen.page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await findSidewaysScroll(seen.page), [], `${path} at ${width} px`);
      }
    }
  });

  it('can be walked with the keyboard: every stop is visible and named, and the walk ends', async () => {
    await using seen = await visit({});
    for (const path of paths) {
      await seen.open(path);
      assert.deepEqual(await findBadStops(seen.page), [], path);
    }
  });

  it('has its pictures made by the code that makes those of the README', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pictures-'));
    try {
      const names = await takeScreenshots(service, browser, folder, ['overview']);
      assert.deepEqual([...names].sort(), (await readdir(folder)).sort());
      assert.equal(names.length, 4);
      for (const name of names) {
        const header = (await readFile(join(folder, name))).subarray(0, 24);
        const { width, height } = SIZES[name.endsWith('-wide.png') ? 'wide' : 'narrow'];
        assert.equal(header.toString('latin1', 1, 4), 'PNG');
        assert.deepEqual([header.readUInt32BE(16), header.readUInt32BE(20)], [width, height]);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('opens for a member too', async () => {
    await using seen = await browser.visit();
    await seen.signIn(await service.signIn(service.member));
    for (const path of paths) {
      await seen.open(path);
      await seen.page.locator('main h1').waitFor();
    }
  });
});
