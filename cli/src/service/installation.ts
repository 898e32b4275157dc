import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  type Catalogue,
  listRouteOverviews,
  prepareCatalogue,
  providerFileIssue,
  type RouteOverview,
} from '@gatehouse/control-plane/catalogue';
import type { Database } from '@gatehouse/store';
import { type Config, ConfigError, type Role } from '../config/config.ts';
import { requireNone } from '../config/config-error.ts';
import { platformKeyIssue } from '../config/platform-keys.ts';
import { readCatalogueText } from './catalogue-text.ts';

// What must exist before anything is served: a data directory, routes, and usable keys of their providers.

const SHIPPED_CATALOGUE = join(import.meta.dirname, '../../../catalogue.yaml');

/**
 * Creates the data directory if missing. Other users may pass through it, because the embedded PostgreSQL of a service
 * that runs as root runs as another user; everything inside is closed to others.
 */
export async function makeDataDirectory(path: string): Promise<void> {
  await makeDirectory(resolve(path)).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`DATA_DIR is ${JSON.stringify(path)}, which cannot be made: ${error.message}`);
  });
}

// Parents one by one: Node's recursive mkdir never ends if an existing directory answers ENOENT (/proc).
async function makeDirectory(path: string): Promise<void> {
  const isDirectory = (one: string) =>
    stat(one).then(
      (found) => found.isDirectory(),
      () => false,
    );
  if (await isDirectory(path)) return;
  if (!(await isDirectory(dirname(path))) && dirname(path) !== path) await makeDirectory(dirname(path));
  await mkdir(path, { mode: 0o711 }).catch(async (error: NodeJS.ErrnoException) => {
    // Another process may have been faster.
    if (error.code !== 'EEXIST' || !(await isDirectory(path))) throw error;
  });
}

/**
 * The catalogue that the settings name, if any. It is checked at every start, but only loaded without routes. Throws
 * ConfigError with every issue of the file.
 */
export async function readChosenCatalogue({ catalogue }: Config): Promise<Catalogue | undefined> {
  return catalogue === undefined ? undefined : await loadCatalogue(resolve(catalogue));
}

/** Loads the chosen catalogue, or the shipped one, into a database without routes. Returns the number of routes. */
export function prepareRoutes(
  database: Database,
  { databaseUrl }: Config,
  chosen: Catalogue | undefined,
): Promise<number> {
  return prepareCatalogue(database, {
    hasDemo: databaseUrl === undefined,
    load: async () => chosen ?? loadCatalogue(SHIPPED_CATALOGUE),
  });
}

async function loadCatalogue(path: string): Promise<Catalogue> {
  const text = await readCatalogueText(path).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`CATALOGUE is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
  // Only here: most starts read no catalogue.
  const { CatalogueError, issueText, readCatalogue } = await import(
    '@gatehouse/control-plane/catalogue-file'
  );
  try {
    return readCatalogue(text, path);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new ConfigError(
      error.issues.map((issue) => `CATALOGUE is ${JSON.stringify(path)}, ${issueText(issue)}`),
    );
  }
}

/**
 * Throws ConfigError for the keys of the catalogue that are set and cannot be used, and for files of providers that a
 * gateway of this service cannot use.
 */
export async function requireUsableProviders(
  database: Database,
  role: Role,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const routes = await listRouteOverviews(database);
  const targets = routes.filter(({ isActive }) => isActive).flatMap((route) => route.targets);
  const providers = new Map(targets.map(({ provider }) => [provider.name, provider]));
  const variables = Array.from(providers.values(), ({ credentials }) => credentials)
    .flat()
    .map(({ apiKeyEnv }) => apiKeyEnv);
  const keyIssues = [...new Set(variables)].flatMap(
    (variable) => platformKeyIssue(variable, environment) ?? [],
  );
  const fileIssues = role === 'api' ? [] : [...providers.values()].flatMap(filesIssue);
  requireNone([...keyIssues, ...fileIssues]);
}

function filesIssue({ name, flags }: RouteOverview['targets'][number]['provider']): string[] {
  const issue = providerFileIssue(flags);
  return issue === undefined ? [] : [`of the provider ${name} of the catalogue, ${issue}`];
}
