export { createOrganization, deposit } from './create-organization.ts';
export { listMembers } from './list-members.ts';
export { listProjects } from './list-projects.ts';
export { findOrganizationByName, type Role } from './queries.ts';
export { type OrganizationName, organizationName } from './rules.ts';
