import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { pathsOfPages } from './pages.ts';
import { settled } from './visits.ts';

// Every figure's button copies the API request behind it: what is copied, run as a shell would, answers what the page shows.

/** The words of a command without expansions, as a POSIX shell splits them. Anything else is an error. */
function shellWords(command: string): readonly string[] {
  const words: string[] = [];
  for (const word of command.match(/(?:'[^']*'|\\'|[^\s'\\])+/g) ?? []) {
    assert.doesNotMatch(word.replaceAll(/'[^']*'|\\'/g, ''), /[^\w./:=@%+,-]/, `${word} in ${command}`);
    words.push(word.replaceAll(/'([^']*)'|\\(')/g, (_, quoted = '', single = '') => `${quoted}${single}`));
  }
  return words;
}

/** The address of `curl -sS -b cookies.txt ADDRESS`, which is all that a command for reading has. */
function addressOf(command: string): string {
  const words = shellWords(command);
  assert.deepEqual(words.slice(0, -1), ['curl', '-sS', '-b', 'cookies.txt'], command);
  // curl would read these as patterns of several addresses.
  assert.doesNotMatch(words.at(-1) ?? '', /[[\]{}]/);
  return words.at(-1) ?? '';
}

/** The answer without the last use of keys, which a list of keys leaves out where telemetry takes more than its 250 ms. */
function steady(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (name, value) => (name === 'last_used_at' ? undefined : value)));
}

const button = (page: Page) => page.getByRole('button', { name: /^Copy the API request/ });

describe('the API requests that the pages copy', () => {
  // The time of analytics stands still, so the same request has the same answer.
  const service = duringTests(() =>
    startDashboardService({ rows: 500, now: new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000) }),
  );
  const browser = duringTests(() => startBrowser(service.origin));

  it('are those that the page sent, and answer what it received', async () => {
    const client = await service.signIn();
    const { requests } = await client.call(analytics.listRequests, {
      query: { time_range: '30d', limit: 1 },
    });
    const [first] = requests;
    assert.ok(first);
    await using visit = await browser.visit({ timeZone: 'Asia/Kathmandu' });
    await visit.signIn(client);
    const { page } = visit;
    const received = new Map<string, unknown>();
    await visit.context.route('**/api/**', async (route) => {
      const response = await route.fetch();
      if (route.request().method() === 'GET') received.set(route.request().url(), await response.json());
      await route.fulfill({ response });
    });
    const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const filter = `range=30d&key=${first.key?.id}&model=${encodeURIComponent(first.model)}`;
    const hostile = encodeURIComponent(`it's $(id) "\`{a,b}[1-2] & # ü`);
    const paths = [
      ...(await pathsOfPages(visit)),
      `/?${filter}&metric=spend&by=key`,
      `/requests?${filter}&q=${hostile}&status=5xx&error=any&cost=0.5`,
      `/requests?range=30d&request=${first.req_id}`,
      `/errors?range=30d&group=upstream_429`,
      `/sessions?range=30d&q=${hostile}`,
      `/usage?${filter}`,
    ];
    for (const path of paths) {
      received.clear();
      await visit.open(path);
      await settled(page);
      const count = await button(page).count();
      assert.ok(count > 0, `${path} copies nothing`);
      const copied = new Set<string>();
      for (let index = 0; index < count; index += 1) {
        await button(page).nth(index).dispatchEvent('click');
        copied.add((await page.evaluate('navigator.clipboard.readText()')) as string);
      }
      for (const command of copied) {
        const address = addressOf(command);
        const shown = received.get(address);
        assert.ok(shown, `${path} copies ${address}, and sent ${[...received.keys()].join('\n')}`);
        const response = await fetch(address, { headers: { cookie } });
        assert.equal(response.status, 200, address);
        assert.deepEqual(steady(await response.json()), steady(shown), address);
      }
    }
  });
});
