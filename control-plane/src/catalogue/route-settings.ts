import { ROUTE_SETTINGS, type RouteSetting } from '@gatehouse/store';
import type { CatalogueRoute } from './catalogue-file.ts';

/** The settings of a route as rows have them and a file states them, by the file's names; null where it may leave one out and does. */
export type RouteSettings = {
  readonly [Setting in RouteSetting]-?: undefined extends CatalogueRoute[Setting]
    ? NonNullable<CatalogueRoute[Setting]> | null
    : CatalogueRoute[Setting];
};

export function settingsOf(route: CatalogueRoute): RouteSettings {
  return Object.fromEntries(
    ROUTE_SETTINGS.map((setting) => [setting, route[setting] ?? null]),
  ) as unknown as RouteSettings;
}
