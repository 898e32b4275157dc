import { readFile } from 'node:fs/promises';
import {
  applyCatalogue,
  type Catalogue,
  type CatalogueChange,
  CatalogueFault,
  type Changes,
  listRouteOverviews,
  readCatalogue,
} from '@gatehouse/control-plane';
import { canServe } from '@gatehouse/gateway';
import type { Context } from '../command.ts';
import { change, withDatabase } from '../database.ts';
import { CommandFault } from '../faults.ts';
import { print, shown } from '../output.ts';

export async function applyFile(path: string, context: Context): Promise<number> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFault(`FILE is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
  const catalogue = readWhole(text, path, context);
  return withDatabase(context, async (database) => {
    const changed = await change('gatehouse route list', () => applyCatalogue(database, catalogue));
    const overviews = await listRouteOverviews(database);
    const unserved = overviews.filter((one) => one.isActive && !canServe(one)).map(({ id }) => id);
    print(context, changeDocument(changed, unserved), changeLines(changed, unserved));
    return 0;
  });
}

/** The one line of an error names the first mistake; the document, where one is wanted, all of them. */
function readWhole(text: string, path: string, context: Context): Catalogue {
  try {
    return readCatalogue(text, path);
  } catch (error) {
    if (error instanceof CatalogueFault) print(context, { file: path, mistakes: error.mistakes }, []);
    throw error;
  }
}

function changeDocument({ providers, routes }: CatalogueChange, unserved: readonly string[]) {
  return {
    providers: changesDocument(providers),
    routes: { ...changesDocument(routes), deactivated: routes.deactivated },
    not_served: unserved,
  };
}

function changesDocument({ added, changed, unchanged }: Changes) {
  return { added, changed, unchanged };
}

function changeLines({ providers, routes }: CatalogueChange, unserved: readonly string[]): string[] {
  return [
    ...changesLines('provider', providers),
    ...changesLines('route', routes),
    ...routes.deactivated.map((id) => `deactivated  route ${shown(id)}`),
    ...unserved.map(
      (id) => `not served   route ${shown(id)}: this version's gateway has none of its endpoints yet`,
    ),
    `${count(routes.added.length, 'route')} added, ${routes.changed.length} changed, ${routes.unchanged.length} unchanged, ${routes.deactivated.length} deactivated.`,
  ];
}

function changesLines(kind: string, { added, changed }: Changes): string[] {
  return [
    ...added.map((name) => `added        ${kind} ${shown(name)}`),
    ...changed.map(({ name, members }) => `changed      ${kind} ${shown(name)}: ${members.join(', ')}`),
  ];
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
