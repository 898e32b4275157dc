import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Visit } from './visits.ts';

/** The paths of all pages in the sidebar, for a visit that is signed in. */
export async function pathsOfPages(visit: Visit): Promise<readonly string[]> {
  await visit.open('/');
  const links = await visit.page.locator('nav[aria-label="Pages"] li a').all();
  const paths = await Promise.all(links.map((link) => link.getAttribute('href')));
  assert.ok(paths.length > 0, 'the sidebar has no pages');
  return paths.map((path) => (path ?? '').split('?')[0] as string);
}

/** `/keys` is `keys`, `/` is `overview`. */
export function nameOf(path: string): string {
  return path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-');
}

/** What makes the page scroll sideways: the elements that end beyond the window, the innermost ones. */
export async function findSidewaysScroll(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const beyond = [...document.body.querySelectorAll('*')].filter(
      (one) => one.getBoundingClientRect().right > clientWidth + 1,
    );
    return beyond
      .filter((one) => !beyond.some((other) => other !== one && one.contains(other)))
      .slice(0, 5)
      .map((one) => one.outerHTML.slice(0, 160));
  })()`)) as readonly string[];
}
