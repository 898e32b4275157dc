export { applyCatalogue, prepareCatalogue, previewCatalogue } from './apply-catalogue.ts';
export type { Catalogue } from './catalogue-file.ts';
export type { CatalogueChange, Changes } from './compare-catalogue.ts';
export { listRoutes } from './list-routes.ts';
export { listRouteOverviews, type RouteOverview, type RouteSwitch, switchRoute } from './operate-routes.ts';
export { MOST_CATALOGUE_CHARACTERS } from './placed-document.ts';
export { findActiveRoutes } from './queries.ts';
export { CatalogueFault, type CatalogueMistake, readCatalogue } from './read-catalogue.ts';
