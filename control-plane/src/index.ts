export {
  type Anchor,
  AnchorsFault,
  type Purge,
  purgeActivity,
  readAnchors,
  type Verification,
  type VerifyOptions,
  verifyActivity,
} from './activity/index.ts';
export { type ControlPlaneParts, createControlPlane, implementations } from './app.ts';
export {
  type AccountChange,
  type AccountOverview,
  activateAccount,
  deactivateAccount,
  deleteAccount,
  findAccount,
  listAccounts,
  PasswordRefused,
  setPassword,
} from './auth/index.ts';
export { type Catalogue, CatalogueFault, prepareCatalogue, readCatalogue } from './catalogue/index.ts';
export { startHousekeeping } from './housekeeping.ts';
export {
  createProject,
  DEFAULT_RETENTION_DAYS,
  DepositRefused,
  deposit,
  findOrganization,
  listOrganizations,
  MAX_RETENTION_DAYS,
  type OrganizationOverview,
  type OrganizationSummary,
  projectName,
  setRetention,
  showOrganization,
} from './organization/index.ts';
export type { ControlPlaneSettings, JoinPolicy } from './settings.ts';
