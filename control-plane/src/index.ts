export { type ControlPlaneParts, createControlPlane, implementations } from './app.ts';
export type { ControlPlaneSettings, JoinPolicy } from './settings.ts';
