import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId, UserId } from '@gatehouse/contract';
import { missingOwnerWarning } from './missing-owner.ts';

const account = {
  userId: 'u' as UserId,
  email: 'ada@example.com',
  role: 'owner',
  isActive: false,
  hasPassword: true,
  isGoogleLinked: false,
  isOidcLinked: false,
  joinedAt: '',
  organization: { id: 'o' as OrganizationId, name: 'Acme' },
} as const;

describe('missingOwnerWarning', () => {
  const change = { account, hasChanged: true, endedSessions: 0, ownersLeft: 0, renamersLeft: 0 };

  it('says what nobody can do any more', () => {
    assert.equal(
      missingOwnerWarning({ ...change, ownersLeft: 1 }, false),
      'warning: Acme has no active owner or admin any more: nobody can rename it',
    );
    assert.equal(
      missingOwnerWarning(change, true),
      'warning: Acme has no active owner or admin any more: nobody can rename it, and nobody can join it where JOIN_POLICY is same-domain',
    );
    assert.equal(
      missingOwnerWarning({ ...change, renamersLeft: 1 }, true),
      'warning: Acme has no owner any more: nobody can join it where JOIN_POLICY is same-domain',
    );
  });

  it('is undefined while an owner is left, or when none was left before', () => {
    for (const [one, isGone] of [
      [{ ...change, ownersLeft: 2, renamersLeft: 1 }, true],
      [{ ...change, ownersLeft: 1, renamersLeft: 1 }, false],
      [{ ...change, hasChanged: false }, false],
      [{ ...change, account: { ...account, role: 'member' as const } }, true],
    ] as const)
      assert.equal(missingOwnerWarning(one, isGone), undefined);
  });
});
