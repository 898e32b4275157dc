export { type AlertSenderDependencies, startAlertSender } from './alerts/index.ts';
export { type ControlPlaneDependencies, createControlPlane, implementations } from './app.ts';
export {
  budgetDemoOrganization,
  createDemoOrganization,
  type DemoBudget,
  DemoError,
  type DemoKey,
  type DemoOrganization,
} from './demo-organization.ts';
export { type DashboardFiles, readDashboard } from './http/dashboard/dashboard-files.ts';
export { startMaintenance } from './maintenance.ts';
export type {
  AlertSettings,
  ControlPlaneSettings,
  GatewayAddress,
  JoinPolicy,
  OidcSettings,
  SmtpSettings,
} from './settings.ts';
