import type { BrowserContext, ConsoleMessage, Page, Request, Response } from 'playwright-core';

/** The problems of the pages of a visit, in the order in which they happened. */
export interface Problems {
  found(): readonly string[];
  /** From now on, problems that match are part of the test. */
  expect(pattern: RegExp): void;
  /** Problems so far were part of the test. */
  forget(): void;
}

// The browser logs each answer that is an error. Those of the API are answers like any other; those of 500 and above
// count all the same.
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/;

/**
 * Watches all tabs: errors and warnings on the console, which violations of the policy are too, exceptions, dialogs,
 * answers of 500 and above, requests that fail, and requests to anywhere but the service.
 */
export function watchProblems(context: BrowserContext, origin: string): Problems {
  const found: string[] = [];
  const expected: RegExp[] = [];
  const add = (problem: string) => {
    if (!expected.some((pattern) => pattern.test(problem))) found.push(problem);
  };
  const onConsole = (message: ConsoleMessage) => {
    // The rest is frames of the bundle.
    const text = message.text().split('\n').slice(0, 3).join('\n');
    if (['error', 'warning', 'assert'].includes(message.type()) && !REFUSED.test(text))
      add(`console: ${text}`);
  };
  const onRequest = (request: Request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) add(`request to ${url}`);
  };
  const onResponse = (response: Response) => {
    if (response.status() >= 500) add(`${response.status()} ${response.url()}`);
  };
  const onFailed = (request: Request) => {
    // A page that goes on to another one aborts what it no longer needs.
    const reason = request.failure()?.errorText ?? '';
    if (reason !== 'net::ERR_ABORTED') add(`failed: ${request.url()} ${reason}`);
  };
  const onPage = (page: Page) => {
    page.on('dialog', (dialog) => {
      add(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
    page.on('crash', () => add('the page crashed'));
  };
  context.on('console', onConsole);
  context.on('weberror', (error) => add(`exception: ${error.error().message}`));
  context.on('request', onRequest);
  context.on('response', onResponse);
  context.on('requestfailed', onFailed);
  context.on('page', onPage);
  return {
    found: () => found,
    expect: (pattern) => void expected.push(pattern),
    forget: () => void found.splice(0),
  };
}
