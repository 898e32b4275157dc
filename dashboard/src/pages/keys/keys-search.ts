import type { Key } from '@gatehouse/sdk';

/** The search parameters of the page. */
export interface KeysSearch {
  /** In the name, the prefix or a model. */
  readonly q?: string | undefined;
  readonly environment?: Key['environment'] | undefined;
  readonly project?: string | undefined;
  /** The id of the key whose panel is open. */
  readonly open?: string | undefined;
}

export const ENVIRONMENTS = [
  { value: 'production', label: 'Production' },
  { value: 'development', label: 'Development' },
  { value: 'testing', label: 'Testing' },
] as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_QUERY = 255;

/** Keeps what is valid. */
export function validateKeys(search: Readonly<Record<string, unknown>>): KeysSearch {
  const { q, environment, project, open } = search;
  const known = ENVIRONMENTS.find(({ value }) => value === environment)?.value;
  return {
    ...(typeof q === 'string' && q !== '' ? { q: q.slice(0, MAX_QUERY) } : {}),
    ...(known === undefined ? {} : { environment: known }),
    ...(typeof project === 'string' && UUID.test(project) ? { project } : {}),
    ...(typeof open === 'string' && UUID.test(open) ? { open } : {}),
  };
}

/** The keys that match. `listKeys` returns every active key, so this is a search over all of them. */
export function matchingKeys<
  Row extends Pick<Key, 'name' | 'key_prefix' | 'allowed_models' | 'environment' | 'project_id'>,
>(keys: readonly Row[], { q = '', environment, project }: KeysSearch): readonly Row[] {
  const text = q.toLowerCase();
  return keys.filter(
    (key) =>
      (environment === undefined || key.environment === environment) &&
      (project === undefined || key.project_id === project) &&
      (text === '' ||
        [key.name, key.key_prefix, ...(key.allowed_models ?? [])].some((part) =>
          part.toLowerCase().includes(text),
        )),
  );
}
