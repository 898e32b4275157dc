import {
  applyCatalogue,
  type Catalogue,
  type CatalogueChange,
  type Changes,
  previewCatalogue,
} from '@gatehouse/control-plane/catalogue';
import { CatalogueError, issueText, readCatalogue } from '@gatehouse/control-plane/catalogue-file';
import { readCatalogueText } from '../../service/catalogue-text.ts';
import type { Context } from '../../terminal/command.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, withDatabase } from '../database.ts';
import { readGivenFile } from '../given-file.ts';

export async function applyFile(path: string, isDryRun: boolean, context: Context): Promise<number> {
  const text = await readGivenFile(path, readCatalogueText);
  const catalogue = readWhole(text, path, context);
  return withDatabase(context, async (database) => {
    const changed = isDryRun
      ? await previewCatalogue(database, catalogue)
      : await change('gatehouse route list', () => applyCatalogue(database, catalogue));
    print(
      context,
      changeDocument(changed, isDryRun),
      changeLines(changed, isDryRun ? ' Nothing was changed: this was a dry run.' : ''),
    );
    return 0;
  });
}

/** The one line of an error names the first mistake; where there are others, the answer lists all of them. */
function readWhole(text: string, path: string, context: Context): Catalogue {
  try {
    return readCatalogue(text, path);
  } catch (error) {
    if (error instanceof CatalogueError) {
      const { issues } = error;
      print(
        context,
        { file: path, mistakes: issues },
        issues.length === 1 ? [] : issues.map((issue) => shown(issueText(issue))),
      );
    }
    throw error;
  }
}

function changeDocument({ providers, routes }: CatalogueChange, isDryRun: boolean) {
  return {
    dry_run: isDryRun,
    providers: changesDocument(providers),
    routes: { ...changesDocument(routes), deactivated: routes.deactivated },
  };
}

function changesDocument({ added, changed, unchanged }: Changes) {
  return { added, changed, unchanged };
}

function changeLines({ providers, routes }: CatalogueChange, remark: string): string[] {
  return [
    ...changesLines('provider', providers),
    ...changesLines('route', routes),
    ...routes.deactivated.map((id) => `deactivated  route ${shown(id)}`),
    `${count(routes.added.length, 'route')} added, ${routes.changed.length} changed, ${routes.unchanged.length} unchanged, ${routes.deactivated.length} deactivated.${remark}`,
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
