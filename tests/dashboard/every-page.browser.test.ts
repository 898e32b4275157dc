import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startBrowser, type Visit, type VisitOptions } from './browser.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';
import { findBadStops, findSidewaysScroll, nameOf, pathsOfPages } from './pages.ts';
import { drawPicture, PICTURES } from './pictures.ts';
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

  it('has one main heading, a title, its mark in the sidebar, no serious violation of WCAG, light, and named stops of the keyboard', async () => {
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
      // Last, because it moves the focus. The walk must end.
      assert.deepEqual(await findBadStops(seen.page), [], path);
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

  it('has its screenshots made by the code of the command', async () => {
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

  it('is drawn as the pictures of the README are: text alone, which a browser shows whole', async () => {
    await using seen = await visit({});
    const blank = await seen.context.newPage();
    for (const name of PICTURES) {
      const made = await drawPicture(service, browser, name);
      const kept = await readFile(join(import.meta.dirname, `../../docs/pictures/${name}.svg`), 'utf8');
      for (const svg of [made, kept]) {
        assert.ok(svg.length < 150_000, `${name}: ${svg.length} characters`);
        const outside = svg.replaceAll(/xmlns(:\w+)?="[^"]*"/g, '').match(/https?:|url\(|<script|<img|href=/);
        assert.equal(outside, null, `${name} needs something else`);
        assert.deepEqual(await sizeOfPicture(blank, svg), [1280, 800], name);
      }
      // The same page: what it says without its figures.
      assert.deepEqual(headingsOf(made), headingsOf(kept), `${name}: run npm run pictures`);
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

/** Width and height that the browser finds in an SVG file; an error if it cannot show it. */
async function sizeOfPicture(page: Page, svg: string): Promise<readonly number[]> {
  return (await page.evaluate(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(`data:image/svg+xml,${encodeURIComponent(svg)}`)};
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  })()`)) as readonly number[];
}

/** The first headings in an SVG file, without their figures. How many more fit into the window depends on the data. */
function headingsOf(svg: string): readonly string[] {
  return Array.from(svg.matchAll(/<h[1-4]\b[^>]*>(.*?)<\/h[1-4]>/g), ([, text = '']) =>
    text.replaceAll(/<[^>]*>|[\d.,]+/g, ''),
  ).slice(0, 8);
}
