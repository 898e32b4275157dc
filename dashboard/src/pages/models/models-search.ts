import type { Route } from '@gatehouse/sdk';

/** The search parameters of the page. */
export interface ModelsSearch {
  /** In the id, an alias or the provider. */
  readonly q?: string | undefined;
  readonly provider?: string | undefined;
  readonly state?: ModelState | undefined;
  /** The id of the route whose panel is open. */
  readonly open?: string | undefined;
}

export type ModelState = 'active' | 'inactive';

export const STATES = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
] as const;

const MAX_LENGTH = 300;

/** Keeps what is valid. */
export function validateModels(search: Readonly<Record<string, unknown>>): ModelsSearch {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH ? { [name]: value } : {};
  };
  const state = STATES.find(({ value }) => value === search['state'])?.value;
  return { ...text('q'), ...text('provider'), ...text('open'), ...(state === undefined ? {} : { state }) };
}

/** The routes that match. `listRoutes` returns all of them, so this is a search over the whole catalogue. */
export function matchingRoutes<Row extends Pick<Route, 'id' | 'aliases' | 'provider' | 'active'>>(
  routes: readonly Row[],
  { q = '', provider, state }: ModelsSearch,
): readonly Row[] {
  const text = q.toLowerCase();
  return routes.filter(
    (route) =>
      (provider === undefined || route.provider === provider) &&
      (state === undefined || route.active === (state === 'active')) &&
      [route.id, route.provider, ...route.aliases].some((part) => part.toLowerCase().includes(text)),
  );
}
