import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId, OrganizationId, ProjectId } from '@gatehouse/contract';
import { type Queryable, sql } from '@gatehouse/store';
import { type Owned, tenantStatement, tenantStatements } from './tenant-statement.ts';

describe('tenantStatement', () => {
  it('compiles with the organisation, or with owned ids only', () => {
    tenantStatement<{ keyId: KeyId; organizationId: OrganizationId }>(
      'tenant-by-organization',
      sql`DELETE FROM t WHERE id = ${'keyId'} AND organization_id = ${'organizationId'}`,
    );
    tenantStatement<{ keyId: Owned<'key'>; name: string }>(
      'tenant-by-owned-key',
      sql`UPDATE t SET name = ${'name'} WHERE id = ${'keyId'}`,
    );
    // @ts-expect-error: whose key it is was not checked
    tenantStatement<{ keyId: KeyId }>('tenant-unproven-key', sql`DELETE FROM t WHERE id = ${'keyId'}`);
    tenantStatement<{ projectId: ProjectId; keyId: Owned<'key'> }>(
      'tenant-unproven-project',
      // @ts-expect-error: whose project it is was not checked
      sql`UPDATE t SET project_id = ${'projectId'} WHERE id = ${'keyId'}`,
    );
    assert.ok(tenantStatements.has('tenant-by-organization'));
  });

  it('does not take an id of a caller where an owned one is asked for', () => {
    const statement = tenantStatement<{ keyId: Owned<'key'> }>(
      'tenant-owned-key',
      sql`SELECT FROM t WHERE id = ${'keyId'}`,
    );
    const call = (database: Queryable, keyId: KeyId, owned: Owned<'key'>) => {
      void database.run(statement, { keyId: owned });
      // @ts-expect-error: a plain id is no proof
      void database.run(statement, { keyId });
    };
    assert.equal(typeof call, 'function');
  });
});
