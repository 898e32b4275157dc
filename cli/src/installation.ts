import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Catalogue, prepareCatalogue, readCatalogue } from '@gatehouse/control-plane';
import type { Database } from '@gatehouse/store';
import { readCatalogueText } from './catalogue-text.ts';
import { type Config, ConfigError } from './config.ts';

// What has to be there before anything is served: a place for the data, and routes.

const SHIPPED_CATALOGUE = join(import.meta.dirname, '../../catalogue.yaml');

/**
 * Makes the data directory if there is none. What is inside closes itself to others. The directory may be passed
 * through, because the embedded PostgreSQL of a service that runs as root runs as somebody else.
 */
export async function makeDataDirectory(path: string): Promise<void> {
  await makeDirectory(resolve(path)).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`DATA_DIR is ${JSON.stringify(path)}, which cannot be made: ${error.message}`);
  });
}

// Parents one by one: Node's own recursion never ends where a directory that exists refuses with ENOENT (/proc).
async function makeDirectory(path: string): Promise<void> {
  const isDirectory = (one: string) =>
    stat(one).then(
      (found) => found.isDirectory(),
      () => false,
    );
  if (await isDirectory(path)) return;
  if (!(await isDirectory(dirname(path))) && dirname(path) !== path) await makeDirectory(dirname(path));
  await mkdir(path, { mode: 0o711 }).catch(async (error: NodeJS.ErrnoException) => {
    // Another process of ours may have been faster.
    if (error.code !== 'EEXIST' || !(await isDirectory(path))) throw error;
  });
}

/** The catalogue that the settings name; undefined when they name none. It is checked though it may not be needed. */
export async function readChosenCatalogue({ catalogue }: Config): Promise<Catalogue | undefined> {
  return catalogue === undefined ? undefined : await loadCatalogue(resolve(catalogue));
}

/** Gives a database without routes those of the chosen catalogue, or of the shipped one. Returns how many. */
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
  return readCatalogue(text, path);
}
