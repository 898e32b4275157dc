import type { Member } from '@gatehouse/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queryOf } from '../../api/call.ts';
import { membersCall } from '../../app/filter-options.ts';
import { useAccount } from '../../app/session.ts';
import { count } from '../../format/number.ts';
import { ROLE_LABELS } from '../../format/role.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Time } from '../../ui/time.tsx';
import { HowToJoin } from './how-to-join.tsx';
import * as styles from './members-page.module.css';

const columnsFor = (own: string): readonly Column<Member>[] => [
  {
    id: 'email',
    header: 'E-mail',
    cell: ({ email, user_id }) => (
      <span className={styles.person}>
        <Foreign text={email} />
        {user_id === own ? <Badge tone="info">You</Badge> : undefined}
      </span>
    ),
  },
  {
    id: 'role',
    header: 'Role',
    width: '140px',
    cell: ({ role }) => <Badge tone={role === 'member' ? 'neutral' : 'good'}>{ROLE_LABELS[role]}</Badge>,
  },
  { id: 'joined', header: 'Joined', width: '200px', cell: ({ joined_at }) => <Time at={joined_at} /> },
  {
    id: 'activity',
    header: 'Activity',
    width: '140px',
    cell: ({ email }) => (
      <Link to="/activity" search={{ actor: email }} aria-label={`Show the activity of ${email}`}>
        Show
      </Link>
    ),
  },
];

export function MembersPage() {
  const { user, organization } = useAccount();
  const { data, error, isPlaceholderData, refetch } = useQuery(queryOf(membersCall));
  const members = data?.members;
  return (
    <>
      <PageHeader title="Members" lead="Everyone who can sign in to this organisation." />
      <div className={styles.layout}>
        <Card
          title={members === undefined ? 'Members' : `Members: ${count(members.length)}`}
          actions={<CopyCurl call={membersCall} of="the members" />}
          isFlush
        >
          <DataTable
            label="Members"
            columns={columnsFor(user.user_id)}
            rows={members}
            rowKey={({ user_id }) => user_id}
            isStale={isPlaceholderData}
            error={error}
            onRetry={refetch}
            empty={<EmptyState title="No members" />}
          />
        </Card>
        <HowToJoin organization={organization.name} />
      </div>
    </>
  );
}
