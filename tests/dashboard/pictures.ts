import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { analytics } from '@gatehouse/contract';
import type { ApiClient } from '@gatehouse/control-plane/testing';
import type { DashboardService } from './dashboard-service.ts';
import type { Browser } from './visits.ts';

/** The README's pictures, in docs/pictures: SVG, so that the repository holds text only. */
export const PICTURES = ['overview', 'request', 'keys'] as const;
export type PictureName = (typeof PICTURES)[number];

const SIZE = { width: 1280, height: 800 } as const;
const IN_PAGE = join(import.meta.dirname, 'in-page');

/** Draws a page of the dashboard as the text of one SVG file. */
export async function drawPicture(
  service: DashboardService,
  browser: Browser,
  name: PictureName,
): Promise<string> {
  await using visit = await browser.visit({ ...SIZE, theme: name === 'request' ? 'dark' : 'light' });
  for (const script of ['record-canvas.js', 'page-to-svg.js']) {
    await visit.context.addInitScript(await readFile(join(IN_PAGE, script), 'utf8'));
  }
  const client = await service.signIn();
  await visit.signIn(client);
  await visit.open(name === 'request' ? `/requests?request=${await findRetried(client)}` : PATHS[name]);
  await visit.page.evaluate('document.fonts.ready.then(() => document.activeElement?.blur())');
  return (await visit.page.evaluate('pageToSvg()')) as string;
}

const PATHS = { overview: '/', keys: '/keys' } as const;

/** A request of the demo that was answered at the second attempt. */
async function findRetried(client: ApiClient): Promise<string> {
  const { requests } = await client.call(analytics.listRequests, { query: { limit: 100 } });
  for (const { req_id } of requests) {
    const { attempts } = await client.call(analytics.showRequest, { params: { req_id } });
    if (attempts.length > 1) return req_id;
  }
  throw new Error('none of the newest 100 requests of the demo has two attempts');
}
