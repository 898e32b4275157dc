import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DashboardService } from './dashboard-service.ts';
import { nameOf, pathsOfPages } from './pages.ts';
import type { Browser } from './visits.ts';

export const SIZES = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 360, height: 740 },
} as const;
const THEMES = ['light', 'dark'] as const;

/**
 * Makes a picture of each page, light and dark, wide and narrow: `overview-light-wide.png`. Returns the names. `only` are
 * names of pages; all unless given.
 */
export async function takeScreenshots(
  service: DashboardService,
  browser: Browser,
  folder: string,
  only: readonly string[] = [],
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const names: string[] = [];
  for (const theme of THEMES) {
    for (const [size, { width, height }] of Object.entries(SIZES)) {
      await using visit = await browser.visit({ theme, width, height });
      await visit.signIn(await service.signIn());
      const paths = await pathsOfPages(visit);
      for (const path of paths) {
        if (only.length > 0 && !only.includes(nameOf(path))) continue;
        await visit.open(path);
        // The fonts are there, and the focus is nowhere.
        await visit.page.evaluate('document.fonts.ready.then(() => document.activeElement?.blur())');
        const name = `${nameOf(path)}-${theme}-${size}.png`;
        await visit.page.screenshot({ path: join(folder, name), animations: 'disabled' });
        names.push(name);
      }
    }
  }
  return names;
}
