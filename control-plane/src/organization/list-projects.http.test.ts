import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { organization } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

describe('GET /projects', () => {
  const api = duringTests(startTestApi);

  it('200 with the projects of the organisation, oldest first, and nothing else of them', async () => {
    const owner = await api.signUp();
    const other = await api.signUp();
    await runSql(api.database)`
      INSERT INTO projects (organization_id, name, created_at)
      VALUES (${owner.organizationId}, 'Zeta', '2026-01-01 00:00:00.1Z'), (${owner.organizationId}, 'Älter <b>', '2025-12-31 23:59:59Z'), (${other.organizationId}, 'Foreign', now())`;
    const reply = await owner.client.send(organization.listProjects);
    const { projects, ...more } = JSON.parse(reply.text);
    assert.deepEqual(more, {});
    assert.deepEqual(
      projects.map(({ name }: { name: string }) => name),
      ['Älter <b>', 'Zeta', 'Default'],
    );
    assert.deepEqual(Object.keys(projects[0]), ['id', 'name', 'created_at']);
    assert.equal(projects[1].created_at, '2026-01-01T00:00:00.100000+00:00');
    const member = await api.signUp({ organization: owner.organizationName });
    assert.deepEqual(await member.client.call(organization.listProjects), { projects });
    const { projects: foreign } = await other.client.call(organization.listProjects);
    assert.deepEqual(
      foreign.map(({ name }) => name),
      ['Default', 'Foreign'],
    );
  });
});
