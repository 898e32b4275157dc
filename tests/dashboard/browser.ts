import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserContext, type Browser as Chromium, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium.ts';
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
  /** A path of the dashboard, in the first tab. */
  open(path: string): Promise<void>;
  /** Another tab, watched as well. */
  newTab(path: string): Promise<Page>;
  /** Writes NAME.png into the folder that GATEHOUSE_SCREENSHOTS names; nothing without one. */
  screenshot(name: string): Promise<void>;
}

export interface Browser extends AsyncDisposable {
  /** Disposing the visit fails if the page had a problem: an error, a violation of the policy, a request elsewhere. */
  visit(options?: VisitOptions): Promise<Visit>;
}

/** A navigation or an expectation on a busy machine. */
const TIMEOUT_MS = 30_000;

/** Starts Chromium for the pages of one service. */
export async function startBrowser(origin: string): Promise<Browser> {
  const { path, environment } = await findChromium();
  const running = await chromium.launch({
    executablePath: path,
    env: environment,
    // The sandbox needs rights that containers do not give, and every page here is our own.
    chromiumSandbox: false,
    args: ['--force-color-profile=srgb', '--font-render-hinting=none'],
  });
  return {
    visit: (options = {}) => openVisit(running, origin, options),
    [Symbol.asyncDispose]: () => running.close(),
  };
}

async function openVisit(running: Chromium, origin: string, options: VisitOptions): Promise<Visit> {
  const { width = 1280, height = 800, theme = 'light', timeZone = 'UTC', now } = options;
  const context = await running.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    timezoneId: timeZone,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  if (now) await context.clock.setFixedTime(now);
  const problems = watchProblems(context, origin);
  const page = await context.newPage();
  return {
    page,
    context,
    problems,
    async open(path) {
      await page.goto(path);
    },
    async newTab(path) {
      const tab = await context.newPage();
      await tab.goto(path);
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
      assert.deepEqual(problems.found(), [], 'the page had problems');
    },
  };
}
