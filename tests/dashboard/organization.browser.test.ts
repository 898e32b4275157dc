import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activity, organization } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { type Person, startDashboardService } from './dashboard-service.ts';
import { settled, type Visit } from './visits.ts';

describe('members, activity and organisation', () => {
  const service = duringTests(() => startDashboardService({ rows: 1 }));
  const browser = duringTests(() => startBrowser(service.origin));

  const visit = async (person: Person, path: string, theme: 'light' | 'dark' = 'light'): Promise<Visit> => {
    const visit = await browser.visit({ theme });
    await visit.signIn(await service.signIn(person));
    await visit.open(path);
    return visit;
  };

  it('lists every member with role, and leads to what one did', async () => {
    const client = await service.signIn();
    const { members } = await client.call(organization.listMembers);
    await using one = await visit(service.owner, '/members');
    const { page } = one;
    const rows = page.getByRole('table', { name: 'Members' }).getByRole('row');
    await rows.nth(members.length).waitFor();
    assert.equal(await rows.count(), members.length + 1);
    for (const { email } of members)
      assert.equal(await page.getByRole('cell').getByText(email, { exact: true }).count(), 1);
    assert.equal(await page.getByText('You', { exact: true }).count(), 1);
    await assertAccessible(page);
    await one.screenshot('members');
    await page.getByRole('link', { name: `Show the activity of ${service.member.email}` }).click();
    await page.getByRole('button', { name: `Account: ${service.member.email}` }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('actor'), service.member.email);
  });

  it('shows the activity log page by page, as the API has it, without moving as it grows', async () => {
    const client = await service.signIn();
    for (let n = 0; n < 60; n += 1)
      await client.call(organization.renameOrganization, { body: { name: `Mills ${n}` } });
    await using one = await visit(service.owner, '/activity');
    const { page } = one;
    const table = page.getByRole('table', { name: 'Activity' });
    await table.getByText('renamed the organisation to Mills 59').waitFor();
    const events = async (query: Record<string, string | number>) =>
      (await client.call(activity.listActivity, { query })).events;
    const shown = async () => (await table.getByRole('row').count()) - 1;
    assert.equal(await shown(), 50);
    await client.call(organization.renameOrganization, { body: { name: 'Lahore Mills' } });
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51–/).waitFor();
    await settled(page);
    const search = new URL(page.url()).searchParams;
    const until = search.get('until') ?? assert.fail('the page is not pinned');
    const second = await events({ limit: 50, offset: 50, until });
    assert.equal(await shown(), second.length);
    for (const [index, { target }] of second.entries())
      if (second[index]?.action === 'org.renamed')
        assert.match(
          await table
            .getByRole('row')
            .nth(index + 1)
            .innerText(),
          new RegExp(`${target}\\b`),
        );
    assert.equal(await table.getByText('renamed the organisation to Lahore Mills').count(), 0);
    await page.goBack();
    await page.getByText(/^1–50/).waitFor();
    await assertAccessible(page);
  });

  it('filters over the whole log, not over the page', async () => {
    const client = await service.signIn();
    const { events } = await client.call(activity.listActivity, {
      query: { action: 'member.joined', limit: 200 },
    });
    await using one = await visit(service.owner, '/activity');
    const { page } = one;
    await page.getByRole('button', { name: 'Filter by Event' }).click();
    await page.getByRole('option', { name: 'Member joined' }).click();
    const table = page.getByRole('table', { name: 'Activity' });
    await table.getByText('joined the organisation').first().waitFor();
    await page.getByRole('button', { name: 'Event: Member joined' }).waitFor();
    assert.equal((await table.getByRole('row').count()) - 1, events.length);
    await page.reload();
    await table.getByText('joined the organisation').first().waitFor();
    assert.equal((await table.getByRole('row').count()) - 1, events.length);
    await one.screenshot('activity');
  });

  it('renames the organisation, and says why a name is refused', async () => {
    const other = await service.api.signUp({ organization: 'Taken Ltd' });
    await using one = await visit(service.owner, '/organization');
    const { page } = one;
    const name = page.getByLabel('Name of the organisation');
    const rename = page.getByRole('button', { name: 'Rename' });
    await name.fill('<b>Bold</b>');
    await page.getByText('The characters < and > are not accepted.').waitFor();
    await name.fill(other.organizationName.toUpperCase());
    await rename.click();
    await page.getByText('Another organisation has this name.').waitFor();
    await name.fill('Zu\u202elu');
    await rename.click();
    await page.getByText(/text-direction characters/).waitFor();
    const hostile = `Zulu "' & \${x} 100% ${'y'.repeat(200)}`;
    await name.fill(hostile);
    await rename.click();
    await page.getByRole('status', { name: 'Messages' }).getByText(`Renamed to ${hostile}`).waitFor();
    assert.equal(await page.getByRole('navigation', { name: 'Pages' }).getByText(hostile).count(), 1);
    await one.screenshot('organization');
    await assertAccessible(page);
  });

  it('tells a member why they may not rename it', async () => {
    await using one = await visit(service.member, '/organization', 'dark');
    const { page } = one;
    // By keyboard, which shows the reason at once.
    await page.getByLabel('Name of the organisation').focus();
    await page.keyboard.press('Tab');
    await page.getByText('Only owners and admins may rename the organisation.').waitFor();
    assert.equal(await page.getByLabel('Name of the organisation').getAttribute('readonly'), '');
    await assertAccessible(page);
  });
});
