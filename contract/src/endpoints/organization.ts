import { z } from 'zod';
import { id } from '../conventions/id.ts';
import { text } from '../conventions/text.ts';
import { endpoint, ROLES } from '../endpoint.ts';
import { MAX_NAME_LENGTH } from '../limits.ts';
import { timestamp } from './fields.ts';

export const Member = z
  .strictObject({ user_id: id(), email: z.string(), role: z.enum(ROLES), joined_at: timestamp() })
  .meta({ id: 'Member' });

export const Project = z
  .strictObject({ id: id(), name: z.string(), created_at: timestamp() })
  .meta({ id: 'Project' });

export const OrganizationReference = z
  .strictObject({ id: id(), name: z.string() })
  .meta({ id: 'OrganizationReference' });

/** A new name of an organisation. Its rules are answered with one sentence, not with an issue. */
export const organizationName = () =>
  text().meta({ minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: '^[^<>]*$', example: 'Acme' });

export const renameOrganization = endpoint({
  name: 'renameOrganization',
  section: 'organization',
  method: 'PATCH',
  path: '/organization',
  roles: ['owner', 'admin'],
  summary: 'Rename the organisation.',
  body: z.object({
    name: organizationName().meta({
      description: 'Trimmed. Unique, case-insensitive.',
    }),
  }),
  reply: OrganizationReference,
  records: ['org.renamed'],
  errors: [
    { status: 400, body: 'error', when: 'the name is blank, too long or contains a forbidden character' },
    { status: 409, body: 'error', when: 'another organisation has the name' },
  ],
});

export const listMembers = endpoint({
  name: 'listMembers',
  section: 'organization',
  method: 'GET',
  path: '/members',
  summary: 'The members of the organisation, in the order of joining.',
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
