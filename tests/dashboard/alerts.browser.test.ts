import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alerts } from '@gatehouse/contract';
import { duringTests, startAlertReceiver, startTestAlertSender } from '@gatehouse/control-plane/testing';
import { runSql } from '@gatehouse/store/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { type Person, startDashboardService } from './dashboard-service.ts';
import type { Visit, VisitOptions } from './visits.ts';

describe('alerts', () => {
  const webhookHosts = new Set<string>();
  const settings = { webhookHosts, smtp: { url: 'smtp://127.0.0.1:1', from: 'gatehouse@example.com' } };
  const service = duringTests(() => startDashboardService({ rows: 1, alerts: settings }));
  const browser = duringTests(() => startBrowser(service.origin));

  const visit = async (person: Person, options: VisitOptions = {}): Promise<Visit> => {
    const visit = await browser.visit(options);
    await visit.signIn(await service.signIn(person));
    await visit.open('/alerts');
    return visit;
  };
  const channels = async () => (await (await service.signIn()).call(alerts.listAlertChannels)).channels;

  it('go to a webhook that is added, tested and deleted, whose secret is shown once', async () => {
    await using receiver = await startAlertReceiver();
    webhookHosts.add(receiver.host);
    await using _ = startTestAlertSender(service.api, { settings });
    await using one = await visit(service.owner);
    const { page } = one;
    await page.getByText('Nobody is told yet').waitFor();
    await page.getByText('No alerts in the last week').waitFor();
    await assertAccessible(page);
    await one.screenshot('alerts-empty');
    await page.getByRole('button', { name: 'Send alerts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send alerts' });
    await dialog.getByRole('button', { name: 'Add the channel' }).click();
    await dialog.getByText('Enter the URL.').waitFor();
    await dialog.getByRole('textbox', { name: 'URL' }).fill('https://10.0.0.1/');
    await dialog.getByRole('button', { name: 'Add the channel' }).click();
    await dialog.getByText(/10\.0\.0\.1 is not a public one/).waitFor();
    await assertAccessible(page);
    await one.screenshot('alerts-add');
    await dialog.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add the channel' }).click();
    const shown = page.getByRole('dialog', { name: 'Webhook added' });
    await shown.getByText(/^whsec_/).waitFor();
    await page.keyboard.press('Escape');
    await assertAccessible(page);
    await one.screenshot('alerts-secret');
    await shown.getByRole('button', { name: 'I have stored the secret' }).click();
    await shown.waitFor({ state: 'detached' });
    assert.equal(await page.getByText(/^whsec_/).count(), 0);
    await page.getByRole('button', { name: 'Send a test' }).click();
    const sent = page.getByRole('table', { name: 'Deliveries' });
    await sent.getByText('Delivered').waitFor();
    assert.equal(receiver.received.length, 1);
    await page.getByRole('button', { name: /^Actions of http/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the channel' }).click();
    await page.getByText('Nobody is told yet').waitFor();
    assert.deepEqual(await channels(), []);
  });

  it('are listed with how they went, at every width, to owners and admins', async () => {
    const client = await service.signIn();
    const url = 'https://hooks.example.com/services/T024BE7LD/gatehouse';
    const webhook = await client.call(alerts.createAlertChannel, { body: { kind: 'webhook', url } });
    const address = 'finance@example.com';
    const email = await client.call(alerts.createAlertChannel, { body: { kind: 'email', address } });
    for (const [nth, [channel, type, status, attempts, error]] of (
      [
        [webhook.id, 'spend_limit.threshold_reached', 'delivered', 1, null],
        [email.id, 'balance.low', 'delivered', 2, null],
        [webhook.id, 'key.expiring', 'failed', 31, 'the receiver answered 404'],
        [webhook.id, 'spend_limit.reached', 'pending', 3, 'the receiver did not answer within 5 s'],
      ] as const
    ).entries())
      await runSql(service.api.database)`
        INSERT INTO alert_deliveries (channel_id, organization_id, type, data, status, attempts, last_error, created_at, due_at)
        SELECT id, organization_id, ${type}, '{}', ${status}, ${attempts}, ${error},
               clock_timestamp() - ${40 - nth * 10} * interval '1 minute', clock_timestamp() + interval '1 hour'
        FROM alert_channels WHERE id = ${channel}`;
    for (const [theme, width] of [
      ['light', 1440],
      ['dark', 1440],
      ['light', 390],
      ['dark', 390],
    ] as const) {
      await using one = await visit(service.owner, { theme, width, height: 900, timeZone: 'Asia/Karachi' });
      const sent = one.page.getByRole('table', { name: 'Deliveries' });
      await sent.getByText('Spend limit reached').waitFor();
      await sent.getByText('the receiver answered 404').waitFor();
      await one.page.getByText('finance@example.com').first().waitFor();
      await assertAccessible(one.page);
      await one.screenshot(`alerts-${theme}-${width}`);
    }
    await using other = await visit(service.member);
    await other.page.getByText('Owners and admins see alerts').waitFor();
    assert.equal(await other.page.getByRole('button', { name: /Send alerts|Send a test/ }).count(), 0);
    await assertAccessible(other.page);
  });
});
