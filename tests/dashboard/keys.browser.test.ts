import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys, organization, service as serviceSection } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { type Person, startDashboardService } from './dashboard-service.ts';
import { settled, type Visit, type VisitOptions } from './visits.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\'`\u202e{{7*7}}';
const LONG = 'x'.repeat(255);

const table = (page: Page) => page.getByRole('table', { name: 'Keys' });
const rowOf = (page: Page, name: string) => table(page).getByRole('row').filter({ hasText: name });

async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

describe('the keys', () => {
  const service = duringTests(() => startDashboardService({ rows: 200 }));
  const browser = duringTests(() => startBrowser(service.origin));

  const visit = async (
    path = '/keys',
    options: VisitOptions = {},
    person: Person = service.owner,
  ): Promise<Visit> => {
    const visit = await browser.visit(options);
    await visit.signIn(await service.signIn(person));
    await visit.open(path);
    return visit;
  };
  const list = async () => (await (await service.signIn()).call(keys.listKeys)).keys;
  const mint = async (body: { name: string; credit_limit_cents?: number; allowed_models?: string[] }) => {
    const client = await service.signIn();
    const { projects } = await client.call(organization.listProjects);
    return client.call(keys.createKey, { body: { project_id: projects[0]?.id ?? '', ...body } });
  };

  it('lists every key with what it spent of its limit, as the API has it', async () => {
    const client = await service.signIn();
    const budget = await client.call(keys.getBudget, { query: { limit: 200 } });
    await using one = await visit();
    const { page } = one;
    assert.equal(await table(page).getByRole('row').count(), budget.keys.length + 1);
    for (const { name, key_prefix, credit_limit_pkr, spent_pkr, held_pkr } of budget.keys) {
      const row = rowOf(page, key_prefix);
      await row.getByText(name, { exact: true }).waitFor();
      if (credit_limit_pkr === null) {
        await row.getByText('no limit').waitFor();
        continue;
      }
      const meter = row.getByRole('meter', { name: `Credit of ${name}` });
      const used = Math.min(1, (spent_pkr + held_pkr) / credit_limit_pkr);
      assert.ok(Math.abs(Number(await meter.getAttribute('aria-valuenow')) - used * 100) < 0.01);
      assert.equal(await meter.getAttribute('data-tone'), used >= 1 ? 'bad' : used >= 0.8 ? 'warn' : 'good');
    }
    await one.screenshot('keys-light');
    await page.getByRole('button', { name: 'Copy the API request of the keys' }).click();
    await page.getByText('Copied as curl').waitFor();
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      `curl -sS -b cookies.txt ${service.origin}/api/keys`,
    );
  });

  it('turns amber at 80 % of a limit and red at 100 %, with what is held', async () => {
    await using one = await browser.visit();
    await one.signIn(await service.signIn());
    const shares = [
      ['good', 79.999999, 0],
      ['warn', 79, 1],
      ['warn', 99.999999, 0],
      ['bad', 60, 40],
      ['bad', 101, 0],
    ] as const;
    await one.page.route('**/api/budget*', async (route) => {
      const response = await route.fetch();
      const budget = (await response.json()) as { keys: object[] };
      const changed = budget.keys.map((key, index) => {
        const [, spent_pkr, held_pkr] = shares[index] ?? [];
        return spent_pkr === undefined
          ? key
          : { ...key, unlimited: false, credit_limit_pkr: 100, spent_pkr, held_pkr };
      });
      await route.fulfill({ response, json: { ...budget, keys: changed } });
    });
    await one.open('/keys');
    const meters = one.page.getByRole('meter');
    for (const [index, [tone]] of shares.entries())
      assert.equal(await meters.nth(index).getAttribute('data-tone'), tone, `${index}`);
  });

  it('mints one key, whatever the answer: exact limit, models, and the secret shown once', async () => {
    const client = await service.signIn();
    await using one = await visit('/organization');
    const { page } = one;
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByText('Enter an amount in PKR.').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill(HOSTILE);
    await dialog.getByLabel('Credit limit').fill('0.0000001');
    await dialog.getByText('At most 6 decimals are accepted.').waitFor();
    await dialog.getByLabel('Credit limit').fill('4.350001');
    await dialog.getByRole('button', { name: /Expires/ }).click();
    await page.getByRole('option', { name: 'In 30 days' }).click();
    await dialog.getByText('Only some models').click();
    await dialog.getByRole('searchbox', { name: 'Search models' }).fill('demo');
    await dialog.getByRole('option', { name: /^demo\/echo/ }).click();
    await dialog.getByText('1 model chosen').waitFor();
    await assertAccessible(page);
    await one.screenshot('keys-create');

    // The service mints the key, and its answer is lost on the way.
    const before = (await list()).length;
    await page.route('**/api/keys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    one.problems.expect(/ERR_CONNECTION_RESET|Failed to load resource/);
    await dialog.getByRole('button', { name: 'Create the key' }).dblclick();
    await dialog.getByText('The service did not answer.').waitFor();
    // A press that came twice is two requests, and both end before the route does.
    await page.unrouteAll({ behavior: 'wait' });
    one.problems.expect(/409/);
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText(/has minted the key sk_svc_\w{8} already/).waitFor();
    assert.equal((await list()).length, before + 1);
    await one.screenshot('keys-lost');

    await dialog.getByRole('button', { name: 'Create another key' }).click();
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    const created = page.getByRole('dialog', { name: /Key created/ });
    const secret = (await created.getByRole('region', { name: 'The key', exact: true }).innerText()).split(
      '\n',
    )[0];
    assert.match(secret ?? '', /^sk_svc_\w{32}$/);
    const [key] = await list();
    assert.ok(key);
    assert.equal(key.name, HOSTILE);
    assert.equal(key.credit_limit_cents, 4_350_001);
    assert.deepEqual(key.allowed_models, ['demo/echo']);
    assert.ok(Math.abs(Date.parse(key.expires_at ?? '') - Date.now() - 30 * 86_400_000) < 120_000);
    await assertAccessible(page);
    await one.screenshot('keys-created');

    // Neither Escape, a click beside it nor the back button loses the secret.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await page.evaluate('history.back()');
    await created.getByText(secret ?? '', { exact: true }).waitFor();
    await created.getByRole('button', { name: 'Copy the key', exact: true }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);

    const { gateway_url, gateway_port } = await client.call(serviceSection.getService);
    const gateway = gateway_url ?? `http://localhost:${gateway_port ?? 8081}`;
    await settled(page);
    for (const [tab, base] of [
      ['Claude Code', `"ANTHROPIC_BASE_URL": "${gateway}"`],
      ['Codex', `base_url = "${gateway}/v1"`],
      ['Cursor', `Base URL: ${gateway}/v1`],
      ['Open WebUI', `OPENAI_API_BASE_URL=${gateway}/v1`],
      ['curl', `${gateway}/v1/chat/completions`],
      ['Python', `OPENAI_BASE_URL=${gateway}/v1`],
      ['TypeScript', `OPENAI_BASE_URL=${gateway}/v1`],
    ] as const) {
      await created.getByRole('tab', { name: tab }).click();
      const text = await created.getByRole('tabpanel', { name: tab }).innerText();
      assert.ok(text.includes(base) && text.includes(secret ?? ''), `${tab}: ${text}`);
    }
    await created.getByRole('button', { name: 'I have stored the key' }).click();
    await rowOf(page, key.key_prefix).waitFor();
    assert.equal(await page.getByText(secret ?? '').count(), 0);
  });

  it('explains spend floor and headroom before the API refuses, and keeps what was not changed', async () => {
    const client = await service.signIn();
    const { keys: before, ...all } = await client.call(keys.getBudget, { query: { limit: 200 } });
    const spender = before.find(
      ({ spent_pkr, credit_limit_pkr }) => spent_pkr > 0.01 && credit_limit_pkr !== null,
    );
    assert.ok(spender, 'the demo has no key with a limit that has spent');
    const others = all.key_limits_pkr - (spender.credit_limit_pkr ?? 0);
    await using one = await visit();
    const { page } = one;
    await choose(page, spender.name, 'Edit limits');
    const dialog = page.getByRole('dialog', { name: /^Edit/ });
    const field = dialog.getByLabel('Credit limit');
    await field.fill((spender.spent_pkr - 0.000001).toFixed(6));
    await dialog.getByText(/has already spent/).waitFor();
    await field.fill((all.deposited_pkr - others + 0.000001).toFixed(6));
    await dialog.getByText(/limits of the other keys leave/).waitFor();
    await assertAccessible(page);
    await one.screenshot('keys-edit');
    // The highest limit that the page allows is one that the API accepts.
    await field.fill((all.deposited_pkr - others).toFixed(6));
    await dialog.getByLabel('Rate limit').fill('77');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`Saved ${spender.name}`).waitFor();
    const saved = (await list()).find(({ id }) => id === spender.id);
    assert.equal(saved?.rate_limit_rpm, 77);
    assert.equal(saved?.credit_limit_cents, Math.round((all.deposited_pkr - others) * 1e6));

    await choose(page, spender.name, 'Edit limits');
    await dialog.getByText('Limit its credit').click();
    await dialog.getByText(/is removed/).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, spender.key_prefix).getByText('no limit').waitFor();
    const unlimited = (await list()).find(({ id }) => id === spender.id);
    assert.equal(unlimited?.credit_limit_cents, null);
    assert.equal(unlimited?.rate_limit_rpm, 77);
    assert.equal(unlimited?.expires_at, saved?.expires_at);
  });

  it('says what the API refuses in its own words', async () => {
    const key = await mint({ name: 'Too fast' });
    await using one = await visit();
    const { page } = one;
    await choose(page, key.name, 'Edit limits');
    await page.getByLabel('Rate limit').fill('999999');
    one.problems.expect(/400/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/cannot be above the platform ceiling/).waitFor();
  });

  it('shows every sentence of the API whole, whichever conflict it is about', async () => {
    const sentence = (about: string) =>
      `The ${about} of this organisation cannot be above what the platform allows, which is 30 at the moment; ask your operator.`;
    await using one = await visit();
    const { page } = one;
    const refuse = (method: string, status: number, about: string) =>
      page.route('**/api/keys**', (route) =>
        route.request().method() === method
          ? route.fulfill({ status, json: { error: sentence(about) } })
          : route.continue(),
      );
    await page.getByRole('button', { name: 'Create a key' }).click();
    const create = page.getByRole('dialog', { name: 'Create a key' });
    await create.getByLabel('Name', { exact: true }).fill('one too many');
    await create.getByText('Limit its credit').click();
    await refuse('POST', 409, 'number of keys');
    await create.getByRole('button', { name: 'Create the key' }).click();
    await create.getByRole('alert').getByText(sentence('number of keys'), { exact: true }).waitFor();
    // It can be tried again: nothing was minted.
    assert.equal(await create.getByText('Nobody can read it again').count(), 0);
    assert.equal(await create.getByRole('button', { name: 'Create another key' }).count(), 0);
    await create.getByRole('button', { name: 'Cancel' }).click();
    await refuse('PATCH', 400, 'rate');
    const [first] = await list();
    await choose(page, first?.name ?? '', 'Edit');
    const edit = page.getByRole('dialog', { name: /^Edit/ });
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.getByRole('alert').getByText(sentence('rate'), { exact: true }).waitFor();
  });

  it('rotates a key, shows the new secret once, and says until when the one before is accepted', async () => {
    const key = await mint({ name: 'Turned' });
    await using one = await visit();
    const { page } = one;
    await choose(page, key.name, 'Rotate');
    const dialog = page.getByRole('dialog', { name: 'Rotate this key?' });
    await dialog.getByText(key.key_prefix, { exact: false }).waitFor();
    await assertAccessible(page);
    await one.screenshot('keys-rotate');
    await dialog.getByRole('button', { name: 'Make a new secret' }).click();
    const shown = page.getByRole('dialog', { name: /New secret/ });
    const region = shown.getByRole('region', { name: 'The key', exact: true });
    const [secret = ''] = (await region.innerText()).split('\n');
    assert.match(secret, /^sk_svc_\w{32}$/);
    await shown.getByText(/The previous secret is accepted until/).waitFor();
    await assertAccessible(page);
    await one.screenshot('keys-rotated');
    const client = await service.signIn();
    const { key_prefix, previous_key_prefix, previous_valid_until } = await client.call(keys.getKey, {
      params: { key_id: key.id },
    });
    assert.deepEqual([key_prefix, previous_key_prefix], [secret.slice(0, 15), key.key_prefix]);
    assert.ok(Math.abs(Date.parse(previous_valid_until ?? '') - Date.now() - 86_400_000) < 120_000);
    await shown.getByRole('button', { name: 'I have stored the key' }).click();
    await rowOf(page, key_prefix).click();
    const panel = page.getByRole('dialog', { name: key.name });
    await panel.getByText(key.key_prefix, { exact: true }).waitFor();
    await panel.getByText('Created by', { exact: true }).waitFor();
    await one.screenshot('keys-rotated-panel');
  });

  it('revokes a key once its name is typed', async () => {
    const key = await mint({ name: LONG, credit_limit_cents: 5_000_000 });
    await using one = await visit();
    const { page } = one;
    await choose(page, key.name, 'Revoke');
    const dialog = page.getByRole('alertdialog');
    const revoke = dialog.getByRole('button', { name: 'Revoke the key' });
    assert.equal(await revoke.getAttribute('aria-disabled'), 'true');
    await dialog.getByLabel('Name of the key').fill('another');
    await page.keyboard.press('Enter');
    await assertAccessible(page);
    await one.screenshot('keys-revoke');
    assert.ok((await list()).some(({ id }) => id === key.id));
    await dialog.getByLabel('Name of the key').fill(LONG);
    await revoke.click();
    await rowOf(page, key.key_prefix).waitFor({ state: 'detached' });
    assert.ok(!(await list()).some(({ id }) => id === key.id));
  });

  it('searches all keys and keeps search, filters and panel in the URL', async () => {
    const key = await mint({ name: 'Needle in the list', allowed_models: ['demo/echo'] });
    await using one = await visit();
    const { page } = one;
    await page.keyboard.press('/');
    await page.keyboard.type('NEEDLE');
    await page.waitForURL(/q=NEEDLE/);
    await page.getByRole('region', { name: /^Active keys: 1 of/ }).waitFor();
    await rowOf(page, 'Needle').click();
    await page.waitForURL(new RegExp(`open=${key.id}`));
    const panel = page.getByRole('dialog', { name: key.name });
    await panel.getByText(key.key_prefix, { exact: true }).waitFor();
    await assertAccessible(page);
    await page.reload();
    await settled(page);
    await panel.getByText('demo/echo').waitFor();
    await one.screenshot('keys-panel');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('no such key');
    await page.getByText('No key matches').waitFor();
  });

  it('reads every page of the budget for more keys than one page has', async () => {
    const client = await service.signIn();
    const { projects } = await client.call(organization.listProjects);
    for (let n = 0; n < 205; n += 1)
      await client.call(keys.createKey, {
        body: { project_id: projects[0]?.id ?? '', name: `Many ${n}`, credit_limit_cents: 1_000_000 + n },
      });
    await using one = await visit('/keys?q=many+0');
    const last = rowOf(one.page, 'Many 0');
    await last.getByRole('meter', { name: 'Credit of Many 0' }).waitFor();
    const all = (await list()).length;
    assert.ok(all > 205);
    await one.page.getByRole('region', { name: `Active keys: 1 of ${all}` }).waitFor();
  });

  it('shows the keys without their credit where the budget cannot be read', async () => {
    await using one = await browser.visit();
    await one.signIn(await service.signIn(service.member));
    one.problems.expect(/404|Failed to load/);
    await one.page.route('**/api/budget*', (route) =>
      route.fulfill({ status: 404, json: { detail: 'No such path' } }),
    );
    await one.open('/keys?q=needle');
    await rowOf(one.page, 'Needle').getByText('unknown').waitFor();
    await one.page.getByRole('alert').getByText('No such path.').waitFor();
  });

  it('fits a phone, in the dark', async () => {
    await using one = await visit('/keys', { width: 360, height: 740, theme: 'dark' });
    assert.equal(await one.page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    await assertAccessible(one.page);
    await one.screenshot('keys-phone');
    await one.page.getByRole('button', { name: 'Create a key' }).click();
    await one.page.getByRole('dialog').waitFor();
    assert.equal(await one.page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    await assertAccessible(one.page);
    await one.screenshot('keys-phone-create');
  });
});
