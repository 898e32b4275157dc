export { applyCatalogue, type CatalogueChange, type Changes, prepareCatalogue } from './apply-catalogue.ts';
export type { Catalogue } from './catalogue-file.ts';
export { listRoutes } from './list-routes.ts';
export { listRouteOverviews, type RouteOverview, type RouteSwitch, switchRoute } from './operate-routes.ts';
export { findActiveRoutes } from './queries.ts';
export { CatalogueFault, type CatalogueMistake, readCatalogue } from './read-catalogue.ts';
