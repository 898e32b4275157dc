import { openBrowser, settled } from '../../tests/dashboard/visits.ts';
import type { HttpClient } from './http-client.ts';

// The calls of each page of the dashboard, as a browser makes them, and the same again without a browser, which would take
// processor time of its own while the API answers.

/** A call of a page. */
export interface PageCall {
  /** Without `/api`. */
  readonly path: string;
  /** The index of the last call that had ended when this one began: it may have needed the answer. */
  readonly after: number | undefined;
}

/** Pages with the parameters that change what they ask for. Those with a range take `range` as well. */
export const PAGES: Readonly<Record<string, { readonly path: string; readonly hasRange: boolean }>> = {
  overview: { path: '/', hasRange: true },
  'overview, errors by key': { path: '/?metric=errors&by=key', hasRange: true },
  'overview, spend by project': { path: '/?metric=spend&by=project', hasRange: true },
  'overview, latency by model': { path: '/?metric=latency-p95', hasRange: true },
  'overview, latency by key': { path: '/?metric=latency-p50&by=key', hasRange: true },
  'overview, first token in total': { path: '/?metric=ttft&by=nothing', hasRange: true },
  requests: { path: '/requests', hasRange: true },
  'requests with an error': { path: '/requests?error=any', hasRange: true },
  'requests found by a search': { path: '/requests?q=cus_00001', hasRange: true },
  sessions: { path: '/sessions', hasRange: true },
  'sessions by cost': { path: '/sessions?sort=cost', hasRange: true },
  'sessions of 4,000 values': { path: '/sessions?name=customer', hasRange: true },
  errors: { path: '/errors', hasRange: true },
  'errors by status': { path: '/errors?by=status', hasRange: true },
  'errors by model': { path: '/errors?by=model', hasRange: true },
  'errors by key': { path: '/errors?by=key', hasRange: true },
  usage: { path: '/usage', hasRange: true },
  keys: { path: '/keys', hasRange: false },
  models: { path: '/models', hasRange: false },
  providers: { path: '/providers', hasRange: false },
  members: { path: '/members', hasRange: false },
  activity: { path: '/activity', hasRange: false },
  organization: { path: '/organization', hasRange: false },
};

/** A browser opens this many connections to one address. */
export const BROWSER_CONNECTIONS = 6;

/** Opens pages of a service in Chromium and returns their calls. */
export async function recordCalls(
  origin: string,
  cookie: string,
  paths: readonly string[],
  now: Date,
): Promise<PageCall[][]> {
  await using browser = await openBrowser(origin, () => undefined);
  const found: PageCall[][] = [];
  for (const path of paths) {
    await using visit = await browser.visit({ width: 1440, height: 900, now });
    const [name = '', value = ''] = cookie.split('=');
    await visit.context.addCookies([{ name, value, url: origin }]);
    // A busy machine may take a while.
    visit.context.setDefaultTimeout(180_000);
    const calls: PageCall[] = [];
    const begun = new Map<object, number>();
    let after: number | undefined;
    visit.page.on('request', (request) => {
      const url = new URL(request.url());
      if (!url.pathname.startsWith('/api/') || request.method() !== 'GET') return;
      begun.set(request, calls.length);
      calls.push({ path: `${url.pathname.slice('/api'.length)}${url.search}`, after });
    });
    visit.page.on('requestfinished', (request) => {
      after = begun.get(request) ?? after;
    });
    await visit.page.goto(path);
    await settled(visit.page);
    found.push(calls);
  }
  return found;
}

/** Makes the calls of a page in the order of the browser. The milliseconds until the last answer is complete. */
export async function openPage(http: HttpClient, calls: readonly PageCall[]): Promise<number> {
  const startedAt = performance.now();
  const answers: Promise<void>[] = [];
  for (const { path, after } of calls) {
    const before = after === undefined ? Promise.resolve() : answers[after];
    answers.push(
      (before ?? Promise.resolve()).then(async () => {
        const { status, body } = await http.get(path);
        if (status !== 200) throw new Error(`${path} answered ${status} ${body.toString().slice(0, 300)}`);
      }),
    );
  }
  await Promise.all(answers);
  return performance.now() - startedAt;
}
