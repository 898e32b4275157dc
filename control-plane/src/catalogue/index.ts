export { applyCatalogue, prepareCatalogue, previewCatalogue } from './apply-catalogue.ts';
export type { Catalogue } from './catalogue-file.ts';
export { MAX_CATALOGUE_CHARACTERS } from './catalogue-size.ts';
export { type CatalogueChange, type Changes, flagMembers } from './compare-catalogue.ts';
export { providerFileIssue } from './connection-consistency.ts';
export { listRoutes } from './list-routes.ts';
export {
  listRouteOverviews,
  type RouteOverview,
  type RouteSwitch,
  switchRoute,
  type TargetOverview,
} from './operate-routes.ts';
export { callPricesInPkr, pricesInPkr } from './prices-in-pkr.ts';
export { findActiveRoutes, findRouteOfAlias } from './queries.ts';
export { sweepKeptItems, sweepUpstreamStates } from './sweep-gateway-rows.ts';
