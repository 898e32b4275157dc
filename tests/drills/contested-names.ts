import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { startService } from '../service-process.ts';
import type { Drill, DrillSettings } from './drill.ts';

// Many clients compete for one name over two processes of the API: two organisations rename themselves to it, or twenty accounts
// register with it. In every round exactly one succeeds, and no request gets a 500.

const PASSWORD = 'correct horse battery staple';

async function owner(port: number): Promise<ApiClient> {
  const client = new ApiClient(port);
  const email = `${randomUUID()}@example.com`;
  await client.call(auth.register, {
    body: { email, password: PASSWORD, organization_name: `Org ${randomUUID()}` },
  });
  await client.call(auth.login, { body: { email, password: PASSWORD } });
  return client;
}

async function renames(
  ports: readonly [number, number],
  { cycles: rounds, log }: DrillSettings,
): Promise<void> {
  const rivals = [await owner(ports[0]), await owner(ports[1])];
  for (let round = 0; round < rounds; round += 1) {
    const name = `Wanted ${randomUUID()}`;
    const replies = await Promise.all(
      rivals.map((client) => client.send(organization.renameOrganization, { body: { name } })),
    );
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409], `round ${round}`);
    const names = await Promise.all(
      rivals.map(async (client) => (await client.call(auth.me)).organization.name),
    );
    assert.equal(names.filter((one) => one === name).length, 1, `round ${round}`);
  }
  log(`${rounds} rounds of two renames to one name: one 200 and one 409 in each`);
}

async function registrations(
  ports: readonly [number, number],
  { cycles: rounds, log }: DrillSettings,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const name = `New ${randomUUID()}`;
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        new ApiClient(ports[n % 2] ?? 0).send(auth.register, {
          body: {
            email: `${randomUUID()}@example.com`,
            password: PASSWORD,
            organization_name: n % 3 === 0 ? name.toUpperCase() : name,
          },
        }),
      ),
    );
    for (const { status, text } of replies) assert.equal(status, 201, `round ${round}: ${text}`);
    const accounts = replies.map(({ text }) => JSON.parse(text));
    assert.equal(new Set(accounts.map((account) => account.organization.id)).size, 1, `round ${round}`);
    assert.equal(accounts.filter((account) => account.user.role === 'owner').length, 1, `round ${round}`);
  }
  log(`${rounds} rounds of 20 registrations with one new name: one organisation with one owner in each`);
}

export const drill: Drill = async (settings) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
  try {
    const environment = { DATA_DIR: join(directory, 'data') };
    await using one = await startService(environment);
    await using two = await startService(environment, ['--role', 'api']);
    await renames([one.apiPort, two.apiPort], settings);
    await registrations([one.apiPort, two.apiPort], settings);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
