import type { Project } from '@gatehouse/sdk';
import { useQuery } from '@tanstack/react-query';
import { queryOf } from '../../api/call.ts';
import { projectsCall } from '../../app/filter-options.ts';
import { useAccount } from '../../app/session.ts';
import { count } from '../../format/number.ts';
import { ROLE_LABELS } from '../../format/role.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Details } from '../../ui/details.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Time } from '../../ui/time.tsx';
import { Id } from './id.tsx';
import * as styles from './organization-page.module.css';
import { RenameForm } from './rename-form.tsx';

const columns: readonly Column<Project>[] = [
  { id: 'name', header: 'Project', cell: ({ name }) => <Foreign text={name} /> },
  { id: 'id', header: 'Id', cell: ({ id }) => <Id id={id} of="project" />, hideBelow: 'm' },
  { id: 'created', header: 'Created', width: '190px', cell: ({ created_at }) => <Time at={created_at} /> },
];

export function OrganizationPage() {
  const { user, organization } = useAccount();
  const { data, error, isPlaceholderData, refetch } = useQuery(queryOf(projectsCall));
  const projects = data?.projects;
  return (
    <>
      <PageHeader title="Organisation" />
      <div className={styles.layout}>
        <Card title="Name">
          <RenameForm name={organization.name} mayRename={user.role !== 'member'} />
        </Card>
        <Card title="Your account">
          <Details
            items={[
              { label: 'E-mail', value: <bdi>{user.email}</bdi> },
              { label: 'Role', value: ROLE_LABELS[user.role] },
              { label: 'Joined', value: <Time at={user.joined_at} /> },
              {
                label: 'Organisation id',
                value: <Id id={organization.id} of="organisation" />,
              },
            ]}
          />
        </Card>
      </div>
      <Card
        title={projects === undefined ? 'Projects' : `Projects: ${count(projects.length)}`}
        caption="Every key belongs to a project. Your operator creates projects."
        actions={<CopyCurl call={projectsCall} of="the projects" />}
        isFlush
      >
        <DataTable
          label="Projects"
          columns={columns}
          rows={projects}
          rowKey={({ id }) => id}
          isStale={isPlaceholderData}
          error={error}
          onRetry={refetch}
          empty={<EmptyState title="No projects">Ask your operator to create one.</EmptyState>}
        />
      </Card>
    </>
  );
}
