export { applyCatalogue, prepareCatalogue } from './apply-catalogue.ts';
export { listRoutes } from './list-routes.ts';
export { findActiveRoutes } from './queries.ts';
export { type Catalogue, CatalogueFault, readCatalogue } from './read-catalogue.ts';
