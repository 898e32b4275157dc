import type { AccountOverview } from '@gatehouse/control-plane/auth';

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
