import { auth } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';

export function me() {
  return withSession(auth.me, async (_call, session) => ({
    body: {
      user: {
        user_id: session.userId,
        email: session.email,
        role: session.role,
        joined_at: session.joinedAt,
      },
      organization: { id: session.organizationId, name: session.organizationName },
    },
  }));
}
