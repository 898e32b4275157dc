import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { REFRESH_COOKIE } from '@gatehouse/contract';
import type { ApiClient } from '@gatehouse/control-plane/testing';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium, findWholeChromium } from './chromium.ts';
import { type Problems, watchProblems } from './problems.ts';

/** How a person looks at the page. */
export interface VisitOptions {
  /** In CSS pixels; 1280 × 800 unless given. */
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** IANA name; UTC unless given. */
  readonly timeZone?: string;
  /** The time that the page reads; it stands still. The real time unless given. */
  readonly now?: Date;
}

/** One person's browser: its cookies and storage are its own, its tabs share them. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: Problems;
  /** Gives the browser the session of a client of the API, as `service.signIn()` returns it. */
  signIn(client: ApiClient): Promise<void>;
  /** Opens a path of the dashboard in the first tab, and waits until nothing on the page loads any more. */
  open(path: string): Promise<void>;
  /** Another tab, watched as well. */
  newTab(path: string): Promise<Page>;
  /** Writes NAME.png into the folder that GATEHOUSE_SCREENSHOTS names; nothing without one. */
  screenshot(name: string): Promise<void>;
}

export interface Browser extends AsyncDisposable {
  visit(options?: VisitOptions): Promise<Visit>;
}

/** A browser that is set up by its machine and its person, instead of by Playwright. */
export interface OwnSettings {
  /** `TZ`, for example. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** As Chromium keeps them in its profile. Only the whole browser has them, so it must be installed. */
  readonly preferences?: object;
}

/** Leads to this machine in these browsers. */
export const OTHER_NAME = 'gh.example';

/** A navigation or an expectation on a busy machine. */
const TIMEOUT_MS = 30_000;

// A selector and no script, because the policy of the page lets Playwright evaluate none repeatedly.
const SETTLED = 'body:has(h1):not(:has([aria-busy="true"])):not(:has([role="status"][aria-label="Loading"]))';

/**
 * Waits until a page has its heading and nothing on it loads. After a click, wait first for what it changes on the page
 * itself: the URL changes before the page begins to load.
 */
export async function settled(page: Page): Promise<void> {
  await page.locator(SETTLED).waitFor({ state: 'attached' });
}

const ARGS = [
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
  // A name that is not localhost, for what a browser does differently there over plain HTTP.
  `--host-resolver-rules=MAP ${OTHER_NAME} 127.0.0.1`,
];

type Report = (problems: readonly string[]) => void;

/** Starts Chromium for the pages of one service. `report` receives the problems of a visit when it is disposed. */
export async function openBrowser(origin: string, report: Report): Promise<Browser> {
  const { path, environment } = await findChromium();
  const running = await chromium.launch({
    executablePath: path,
    env: environment,
    // The sandbox needs rights that containers do not give, and every page here is our own.
    chromiumSandbox: false,
    args: ARGS,
  });
  return {
    async visit(options = {}) {
      const context = await running.newContext({
        ...contextOptions(origin, options),
        timezoneId: options.timeZone ?? 'UTC',
        locale: 'en-GB',
      });
      return openVisit(context, origin, options, report);
    },
    [Symbol.asyncDispose]: () => running.close(),
  };
}

/** Like `openBrowser`. Zone and language are what the browser itself makes of its settings; each visit is a browser of its own. */
export async function openOwnBrowser(
  origin: string,
  { environment: own = {}, args = [], preferences }: OwnSettings,
  report: Report,
): Promise<Browser> {
  const { path, environment } = preferences ? wholeChromium() : await findChromium();
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-browser-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  let count = 0;
  const resources = stack.move();
  return {
    async visit(options = {}) {
      count += 1;
      const profile = join(folder, String(count));
      await mkdir(join(profile, 'Default'), { recursive: true });
      await writeFile(join(profile, 'Default/Preferences'), JSON.stringify(preferences ?? {}));
      const context = await chromium.launchPersistentContext(profile, {
        ...contextOptions(origin, options),
        executablePath: path,
        env: { ...environment, ...own },
        chromiumSandbox: false,
        args: [...ARGS, ...args],
      });
      return openVisit(context, origin, options, report);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function wholeChromium() {
  const found = findWholeChromium();
  if (found === undefined)
    throw new Error('settings of a profile need the package chromium of Debian, which is not installed');
  return found;
}

function contextOptions(origin: string, { width = 1280, height = 800, theme = 'light' }: VisitOptions) {
  return {
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  } as const satisfies BrowserContextOptions;
}

async function openVisit(
  context: BrowserContext,
  origin: string,
  { now }: VisitOptions,
  report: Report,
): Promise<Visit> {
  context.setDefaultTimeout(TIMEOUT_MS);
  if (now) {
    await context.clock.setFixedTime(now);
    // The clock of the service stands still too, and the page knows it by this header.
    await context.addInitScript(`{
      const { get } = Headers.prototype;
      Headers.prototype.get = function (name) {
        return name === 'date' ? new Date().toUTCString() : get.call(this, name);
      };
    }`);
  }
  await delayAnswers(context);
  const problems = watchProblems(context, origin);
  const page = await context.newPage();
  return {
    page,
    context,
    problems,
    async signIn({ cookies }) {
      await context.addCookies(
        Array.from(cookies, ([name, value]) => ({
          name,
          value,
          domain: new URL(origin).hostname,
          path: name === REFRESH_COOKIE ? '/api/auth' : '/',
          httpOnly: true,
          secure: true,
          sameSite: 'Lax',
        })),
      );
    },
    async open(path) {
      await page.goto(path);
      await settled(page);
    },
    async newTab(path) {
      const tab = await context.newPage();
      await tab.goto(path);
      await settled(tab);
      return tab;
    },
    async screenshot(name) {
      const folder = process.env['GATEHOUSE_SCREENSHOTS'];
      if (!folder) return;
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      report(problems.found());
    },
  };
}

/** With DASHBOARD_DELAY_MS every answer of the API comes up to so much later: what does not wait for it shows itself. */
async function delayAnswers(context: BrowserContext): Promise<void> {
  const most = Number(process.env['DASHBOARD_DELAY_MS'] ?? 0);
  if (most === 0) return;
  await context.route('**/api/**', async (route) => {
    await delay(Math.random() * most);
    // The page may have left meanwhile.
    await route.continue().catch(() => undefined);
  });
}
