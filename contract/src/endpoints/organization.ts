import { z } from 'zod';
import { id } from '../conventions/id.ts';
import { endpoint } from '../endpoint.ts';
import { timestamp } from './fields.ts';

export const ROLES = ['owner', 'admin', 'member'] as const;

export const Member = z
  .strictObject({ user_id: id(), email: z.string(), role: z.enum(ROLES), joined_at: timestamp() })
  .meta({ id: 'Member' });

export const Project = z
  .strictObject({ id: id(), name: z.string(), created_at: timestamp() })
  .meta({ id: 'Project' });

export const listMembers = endpoint({
  name: 'listMembers',
  section: 'organization',
  method: 'GET',
  path: '/members',
  summary: 'Everybody in the organisation, in the order of joining.',
  reply: z.strictObject({ members: z.array(Member) }),
});

export const listProjects = endpoint({
  name: 'listProjects',
  section: 'organization',
  method: 'GET',
  path: '/projects',
  summary: 'The projects of the organisation, oldest first.',
  reply: z.strictObject({ projects: z.array(Project) }),
});
