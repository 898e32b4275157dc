import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys, organization, spendLimits } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import { runSql } from '@gatehouse/store/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { type Person, startDashboardService } from './dashboard-service.ts';
import type { Visit, VisitOptions } from './visits.ts';

describe('spend limits', () => {
  const service = duringTests(() => startDashboardService({ rows: 1 }));
  const browser = duringTests(() => startBrowser(service.origin));

  const visit = async (person: Person, options: VisitOptions = {}): Promise<Visit> => {
    const visit = await browser.visit(options);
    await visit.signIn(await service.signIn(person));
    await visit.open('/limits');
    return visit;
  };
  const limits = async () => (await (await service.signIn()).call(spendLimits.listSpendLimits)).limits;

  it('are made with the worst case spelt out, changed and deleted', async () => {
    await using one = await visit(service.owner, { timeZone: 'Asia/Karachi' });
    const { page } = one;
    await page.getByText('No limits yet').waitFor();
    await page.getByRole('button', { name: 'Limit spend' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Limit spend' });
    await dialog.getByRole('button', { name: 'Make the limit' }).click();
    await dialog.getByText('Enter an amount in PKR.').waitFor();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('1,000');
    await dialog.getByText(/^At most PKR 1,000\.00 a month\. /).waitFor();
    await dialog.getByRole('button', { name: /^In each|Month/ }).click();
    await page.getByRole('option', { name: 'Day', exact: true }).click();
    await dialog
      .getByText(/^At most PKR 1,000\.00 a day, which can be PKR 31,000\.00 in a month\. /)
      .waitFor();
    await dialog.getByRole('button', { name: /Requests of|Organisation/ }).click();
    await page.getByRole('option', { name: 'Metadata' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Team');
    await dialog.getByText(/ a day for each value, /).waitFor();
    await assertAccessible(page);
    await one.screenshot('limits-create');
    await dialog.getByRole('textbox', { name: 'Alert at' }).fill('50, 120');
    await dialog.getByRole('button', { name: 'Make the limit' }).click();
    await dialog.getByText('Enter whole numbers from 1 to 100.').waitFor();
    await dialog.getByRole('textbox', { name: 'Alert at' }).fill('50, 80');
    await dialog.getByRole('textbox', { name: 'By the calendar of' }).fill('Nowhere/Land');
    await dialog.getByRole('button', { name: 'Make the limit' }).click();
    await dialog
      .getByText(/name of a time zone/)
      .first()
      .waitFor();
    await dialog.getByRole('textbox', { name: 'By the calendar of' }).fill('Asia/Karachi');
    await dialog.getByRole('button', { name: 'Make the limit' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [limit] = await limits();
    assert.deepEqual(
      [limit?.scope, limit?.window, limit?.time_zone, limit?.limit_pkr, limit?.mode, limit?.alert_at],
      [{ kind: 'metadata', name: 'team', value: null }, 'day', 'Asia/Karachi', 1_000, 'refuse', [50, 80]],
    );
    await page.getByRole('button', { name: /^Actions of the limit/ }).click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    const edit = page.getByRole('dialog', { name: 'Change this limit' });
    await edit.getByRole('textbox', { name: 'Amount' }).fill('0');
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    assert.equal((await limits())[0]?.limit_pkr, 0);
    await page.getByRole('button', { name: /^Actions of the limit/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the limit' }).click();
    await page.getByText('No limits yet').waitFor();
    assert.deepEqual(await limits(), []);
  });

  it('show what their windows spent, hold and leave, to members without a way to change them', async () => {
    const client = await service.signIn();
    const { projects } = await client.call(organization.listProjects);
    const { members } = await client.call(organization.listMembers);
    for (const [scope, window, limit_pkr, spent, held] of [
      [{ kind: 'organization' }, 'month', 500_000, 412_345.5, 1_200],
      [{ kind: 'project', id: projects[0]?.id }, 'day', 20_000, 4_100.25, 0],
      [{ kind: 'member', id: members[0]?.user_id }, 'week', 10_000, 10_000, 0],
      [{ kind: 'metadata', name: 'customer', value: null }, 'hour', 50, 0, 0],
    ] as const) {
      const made = await client.call(spendLimits.createSpendLimit, {
        body: { scope, window, limit_pkr, time_zone: 'Asia/Karachi' },
      });
      await runSql(service.api.owner)`
        INSERT INTO spend_windows (limit_id, value, started_at, ends_at, spent_micro_pkr, held_micro_pkr)
        VALUES (${made.id}::uuid, '', ${made.window_started_at}, ${made.window_ends_at}, ${BigInt(spent * 1e6)}, ${BigInt(held * 1e6)})`;
    }
    for (const [theme, width] of [
      ['light', 1440],
      ['dark', 1440],
      ['light', 390],
      ['dark', 390],
    ] as const) {
      await using one = await visit(service.owner, { theme, width, height: 900, timeZone: 'Asia/Karachi' });
      const meter = one.page.getByRole('meter', { name: 'Spend of the limit of All requests' });
      await meter.waitFor();
      assert.equal(
        await meter.getAttribute('aria-valuetext'),
        'PKR 412,345.50 spent and PKR 1,200.00 held of PKR 500,000.00, 82.7 %',
      );
      await assertAccessible(one.page);
      await one.screenshot(`limits-${theme}-${width}`);
    }
    const [key] = (await client.call(keys.listKeys)).keys;
    await using panel = await visit(service.owner);
    await panel.open(`/keys?open=${key?.id}`);
    await panel.page.getByRole('link', { name: 'PKR 500,000.00 a month, PKR 86,454.50 left' }).waitFor();
    await panel.screenshot('limits-of-key');
    await using other = await visit(service.member);
    await other.page.getByText('Owners and admins change them.').waitFor();
    assert.equal(await other.page.getByRole('table', { name: 'Spend limits' }).getByRole('row').count(), 5);
    assert.equal(
      await other.page.getByRole('button', { name: /Limit spend|^Actions of the limit/ }).count(),
      0,
    );
  });
});
