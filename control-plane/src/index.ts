export {
  type Anchor,
  AnchorsError,
  type Purge,
  purgeActivity,
  readAnchors,
  recordsFrom,
  type Verification,
  type VerifyOptions,
  verifyActivity,
} from './activity/index.ts';
export { type ControlPlaneDependencies, createControlPlane, implementations } from './app.ts';
export {
  type AccountChange,
  type AccountOverview,
  activateAccount,
  deactivateAccount,
  deleteAccount,
  findAccount,
  listAccounts,
  PasswordError,
  setPassword,
} from './auth/index.ts';
export {
  applyCatalogue,
  type Catalogue,
  type CatalogueChange,
  CatalogueError,
  type CatalogueIssue,
  type Changes,
  callPricesInPkr,
  listRouteOverviews,
  MAX_CATALOGUE_CHARACTERS,
  prepareCatalogue,
  previewCatalogue,
  pricesInPkr,
  type RouteOverview,
  type RouteSwitch,
  readCatalogue,
  switchRoute,
  type TargetOverview,
} from './catalogue/index.ts';
export {
  budgetDemoOrganization,
  createDemoOrganization,
  type DemoBudget,
  DemoError,
  type DemoKey,
  type DemoOrganization,
} from './demo-organization.ts';
export { type DashboardFiles, readDashboard } from './http/dashboard/dashboard-files.ts';
export { listRevokedKeys, type RevokedKey, revokeKeysAgain } from './keys/index.ts';
export {
  type Examination,
  examineLedger,
  type Finding,
  type Fold,
  keepLedger,
  observeMoney,
} from './ledger/index.ts';
export { startMaintenance } from './maintenance.ts';
export {
  createProject,
  DEFAULT_RETENTION_DAYS,
  DepositError,
  deposit,
  findOrganization,
  hasOrganizations,
  listOrganizations,
  MAX_RETENTION_DAYS,
  type OrganizationOverview,
  type OrganizationSummary,
  projectName,
  setRetention,
  showOrganization,
  switchByokFallback,
  withdraw,
} from './organization/index.ts';
export type { ControlPlaneSettings, GatewayAddress, JoinPolicy } from './settings.ts';
export {
  examineVault,
  findVaultKeyId,
  openVault,
  type RotateOptions,
  type Rotation,
  rotateVault,
  type SkippedRecord,
  VaultError,
  type VaultExamination,
} from './vault/index.ts';
