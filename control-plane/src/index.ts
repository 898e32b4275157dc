export { type ControlPlaneParts, createControlPlane, implementations } from './app.ts';
export { type Catalogue, CatalogueFault, prepareCatalogue, readCatalogue } from './catalogue/index.ts';
export { startHousekeeping } from './housekeeping.ts';
export type { ControlPlaneSettings, JoinPolicy } from './settings.ts';
