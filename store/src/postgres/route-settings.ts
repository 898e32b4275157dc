import type { Sql } from './sql.ts';

/**
 * The settings of a route: columns of `routes`, which a catalogue file states under the same names. A new one is a migration, a line
 * here, one in the schema of the file and one in the gateway's `RouteSettings`.
 */
export const ROUTE_SETTINGS = [
  'max_output_tokens',
  'default_output_tokens',
  'min_output_tokens',
  'max_input_tokens',
  'allow',
  'timeout_ms',
  'max_attempts',
  'attempt_timeout_ms',
  'queue_ms',
] as const;

export type RouteSetting = (typeof ROUTE_SETTINGS)[number];

/** Their columns. */
export const ROUTE_SETTING_COLUMNS = listed((column) => column);

/** Each as a conflict brings it. */
export const ROUTE_SETTINGS_EXCLUDED = listed((column) => `${column} = excluded.${column}`);

/** The document of the settings of `routes r`, as JSON with the names of the columns. */
export const ROUTE_SETTINGS_DOCUMENT: Sql<never> = {
  parts: ['jsonb_build_object(', ...listed((column) => `'${column}', r.${column}`).parts, ')'],
};

function listed(text: (column: RouteSetting) => string): Sql<never> {
  return { parts: [ROUTE_SETTINGS.map(text).join(', ')] };
}
