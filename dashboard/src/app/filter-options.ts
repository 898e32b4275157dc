import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../api/call.ts';
import type { FilterOption } from '../ui/filter-select.tsx';

/** Names change rarely; a page that changes them invalidates these queries. */
const STALE_MS = 60_000;

export const keysCall = apiCall('listKeys', {});
export const projectsCall = apiCall('listProjects', {});
export const limitsCall = apiCall('listSpendLimits', {});
export const membersCall = apiCall('listMembers', {});
export const routesCall = apiCall('listRoutes', {});

/** The projects, keys and models of the organisation, to filter by. Empty while they load. */
export function useFilterOptions(): {
  readonly projects: readonly FilterOption[];
  readonly keys: readonly FilterOption[];
  readonly models: readonly FilterOption[];
} {
  const keys = useQuery({ ...queryOf(keysCall), staleTime: STALE_MS });
  const projects = useQuery({ ...queryOf(projectsCall), staleTime: STALE_MS });
  const routes = useQuery({ ...queryOf(routesCall), staleTime: STALE_MS });
  return {
    projects: (projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, label: name })),
    keys: (keys.data?.keys ?? []).map(({ id, name, key_prefix }) => ({
      value: id,
      label: name,
      detail: key_prefix,
    })),
    models: (routes.data?.routes ?? []).map(({ id, provider }) => ({
      value: id,
      label: id,
      detail: provider,
    })),
  };
}
