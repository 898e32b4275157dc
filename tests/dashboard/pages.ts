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

/** The causes of a page that scrolls sideways: the elements that end beyond the window, the innermost ones. */
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

/** More stops than a page has. A walk that does not end is a trap. */
const MAX_STOPS = 250;

/** Walks through the page with the Tab key. Returns the stops without a name, a focus ring or a size. */
export async function findBadStops(page: Page): Promise<readonly string[]> {
  await page.evaluate('document.activeElement?.blur()');
  const bad: string[] = [];
  for (let stop = 0; stop < MAX_STOPS; stop += 1) {
    await page.keyboard.press('Tab');
    const { isEnd, problem } = (await page.evaluate(STOP)) as { isEnd: boolean; problem?: string };
    if (isEnd) return bad;
    if (problem !== undefined) bad.push(problem);
  }
  return [`more than ${MAX_STOPS} stops`];
}

const STOP = `(() => {
  const one = document.activeElement;
  // Back at the window, or at a stop that was seen already.
  if (!one || one === document.body || one.dataset.walked === 'yes') return { isEnd: true };
  one.dataset.walked = 'yes';
  const style = getComputedStyle(one);
  const hasRing = ({ outlineStyle, outlineWidth, boxShadow }) =>
    (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  // A card or a field may show the focus of what is inside.
  const shown = [one, one.parentElement, one.parentElement?.parentElement, one.closest('label, [role="group"], article')];
  const isRinged = shown.filter((each) => each && each !== document.body).some(
    (each) => hasRing(getComputedStyle(each)) || hasRing(getComputedStyle(each, '::after')),
  );
  const name = one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim() ||
    one.labels?.length || one.getAttribute('title') || one.getAttribute('placeholder');
  const { width, height } = one.getBoundingClientRect();
  const reasons = [
    ...(name ? [] : ['no name']),
    ...(isRinged ? [] : ['no visible focus']),
    ...(width > 0 && height > 0 && style.visibility === 'visible' ? [] : ['not visible']),
  ];
  return { isEnd: false, ...(reasons.length > 0 && { problem: reasons.join(', ') + ': ' + one.outerHTML.slice(0, 160) }) };
})()`;
