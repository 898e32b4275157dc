import type { AccountOverview } from '@gatehouse/control-plane/auth';
import { shown } from '../../terminal/output.ts';

/** The line that tells the operator of an organisation without an active owner. */
export function ownerRemark(account: AccountOverview, wasLastOwner: boolean): string[] {
  if (!wasLastOwner) return [];
  return [`${shown(account.organization.name)} has no active owner now; gatehouse user set-role makes one.`];
}

/** An account as JSON shows it. */
export function accountDocument(account: AccountOverview) {
  return {
    user_id: account.userId,
    email: account.email,
    role: account.role,
    active: account.isActive,
    has_password: account.hasPassword,
    google_linked: account.isGoogleLinked,
    oidc_linked: account.isOidcLinked,
    joined_at: account.joinedAt,
  };
}
