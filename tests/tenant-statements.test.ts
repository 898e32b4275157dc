import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as controlPlane from '@gatehouse/control-plane';
import { tenantStatements } from '@gatehouse/control-plane/testing';
import { declaredStatements } from '@gatehouse/store';

// A caller names keys, projects and stored provider keys by id. Each statement on such rows therefore carries the
// organisation, or takes ids that a look-up by organisation returned (`Owned`): `tenantStatement` checks that at compile
// time. Those below are declared without it, each for a reason.
const WITHOUT_TENANT: Readonly<Record<string, string>> = {
  'keys-list-revoked': 'an operator’s backup has the revoked keys of all organisations',
  'keys-list-taken-hashes': 'an operator’s import finds that a secret belongs to any organisation',
  'keys-find-overviews': 'an operator finds a key of any organisation by its prefix',
  'keys-find-live': 'an operator’s restore revokes keys of all organisations',
  'vault-lock-keys-behind': 'a rotation covers the records of all organisations',
  'vault-list-records': 'an examination covers the records of all organisations',
  'vault-update-key-wraps':
    'a rotation covers the records of all organisations; each row is matched by its organisation',
  'vault-count-behind': 'a rotation counts the records of all organisations',
  'vault-delete-retired-keys': 'looks for records that are still under a retired master key',
};

describe('tenant statements', () => {
  it('are all statements of the API on keys, projects and stored provider keys', () => {
    assert.ok(controlPlane.implementations.length > 0, 'the statements of every section are declared');
    const onTenantRows = [...declaredStatements().values()]
      .filter(({ name }) => /^(keys|vault|organization|analytics|activity)-/.test(name))
      .filter(({ text }) => /\b(api_keys|projects|vault_keys|idempotency_keys)\b/.test(text))
      .filter(({ parameterNames }) => parameterNames.length > 0);
    assert.ok(onTenantRows.length >= 10);
    assert.deepEqual(
      onTenantRows
        .map(({ name }) => name)
        .filter((name) => !tenantStatements.has(name) && !(name in WITHOUT_TENANT)),
      [],
      'declare it with tenantStatement, or name it here with the reason',
    );
  });
});
