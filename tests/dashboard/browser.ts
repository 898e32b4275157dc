import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { type Browser, type OwnSettings, openBrowser, openOwnBrowser } from './visits.ts';

export {
  type Browser,
  OTHER_NAME,
  type OwnSettings,
  settled,
  type Visit,
  type VisitOptions,
} from './visits.ts';

let problems: string[] = [];

// Not where a visit is disposed: an error there would hide the error of the test itself.
afterEach((test) => {
  const found = problems;
  problems = [];
  // Its own error is the one that is shown. The problems may be the reason.
  if ('passed' in test && !test.passed) for (const problem of found) test.diagnostic(problem);
  assert.deepEqual(found, [], 'the page had problems');
});

/**
 * Starts Chromium for the pages of one service. A test fails if a page that it visited had a problem: an error, a
 * violation of the policy, a request to anywhere else.
 */
export function startBrowser(origin: string): Promise<Browser> {
  return openBrowser(origin, (found) => problems.push(...found));
}

/** Like `startBrowser`, for a browser with the settings of its machine and its person. */
export function startOwnBrowser(origin: string, settings: OwnSettings): Promise<Browser> {
  return openOwnBrowser(origin, settings, (found) => problems.push(...found));
}
