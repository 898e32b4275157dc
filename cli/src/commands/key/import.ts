import { isStorableText } from '@gatehouse/contract';
import {
  findOwnedProject,
  type ImportedKey,
  type ImportFault,
  importKeys,
} from '@gatehouse/control-plane/keys';
import { findProjects } from '@gatehouse/control-plane/organization';
import { settings } from '../../config/config.ts';
import { settingValue } from '../../config/setting.ts';
import type { Context } from '../../terminal/command.ts';
import { CommandError, FaultsError, invalidValue } from '../../terminal/errors.ts';
import { counted, print, shown } from '../../terminal/output.ts';
import { change, noSingleProject, requireOrganization, withDatabase } from '../database.ts';
import { readGivenFile } from '../given-file.ts';
import { SOURCE_IP } from '../operator.ts';
import { readUsdRate } from '../route/usd-rate.ts';
import { CellError } from './cells.ts';
import { FORMATS, type ImportOptions } from './formats.ts';
import { readRows } from './read-rows.ts';

const MAX_SHOWN_FAULTS = 20;

export interface ImportArguments {
  readonly org: string;
  readonly file: string;
  readonly project: string;
  readonly from: string | undefined;
  readonly 'usd-pkr': string | undefined;
  readonly 'dry-run': string | undefined;
}

export async function importKeyFile(args: ImportArguments, context: Context): Promise<number> {
  const environment = context.environment();
  // Both have a default.
  const rateLimitCeilingRpm = settingValue(settings.rateLimitCeilingRpm, environment) as number;
  const maxKeys = settingValue(settings.keysPerOrganization, environment) as number;
  const usdPkr = args['usd-pkr'] === undefined ? undefined : readUsdRate(args['usd-pkr']);
  const read = await readKeys(args, { usdPkr, rateLimitCeilingRpm });
  const { keys, leftOut } = read;
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    const found = isStorableText(args.project)
      ? await findProjects(database, organization.id, args.project)
      : [];
    const [project, ...others] = found;
    if (!project || others.length > 0)
      throw noSingleProject(
        organization,
        args.project,
        found.map(({ id }) => id),
      );
    const isDry = args['dry-run'] !== undefined;
    const faults: ImportFault[] = [...read.faults];
    const done = await change('gatehouse org show', () =>
      database
        .transaction(async (tx) => {
          const projectId = await findOwnedProject(tx, organization.id, project.id);
          if (projectId === undefined) throw new CommandError('the project is gone');
          const { id: organizationId } = organization;
          faults.push(
            ...(await importKeys(tx, {
              ...{ organizationId, projectId, keys, maxKeys, sourceIp: SOURCE_IP },
            })),
          );
          if (faults.length > 0 || isDry) throw new NotImported();
        })
        .then(
          () => true,
          (error) => {
            if (error instanceof NotImported) return false;
            throw error;
          },
        ),
    );
    if (faults.length > 0) throw faultsError(faults);
    print(
      context,
      {
        organization,
        project: { id: project.id, name: project.name },
        imported: done ? keys.length : 0,
        would_import: done ? 0 : keys.length,
        left_out: leftOut,
      },
      [
        `${done ? 'Imported' : 'Would import'} ${counted(keys.length, 'key')} into ${shown(project.name)} of ${shown(organization.name)}.`,
        ...Object.entries(leftOut).map(
          ([why, count]) => `Left out, because they are ${why} there: ${count}.`,
        ),
      ],
    );
    return 0;
  });
}

/** Ends a transaction whose changes are not wanted. */
class NotImported extends Error {}

interface ReadFile {
  readonly keys: readonly ImportedKey[];
  readonly faults: readonly ImportFault[];
  /** How many, by the reason. */
  readonly leftOut: Readonly<Record<string, number>>;
}

async function readKeys(
  { file, from = 'gatehouse' }: ImportArguments,
  options: ImportOptions,
): Promise<ReadFile> {
  const readRow = Object.hasOwn(FORMATS, from) ? FORMATS[from] : undefined;
  if (!readRow) throw invalidValue('--from', from, Object.keys(FORMATS).join(', '));
  const text = await readGivenFile(file);
  const keys: ImportedKey[] = [];
  const faults: ImportFault[] = [];
  const leftOut: Record<string, number> = {};
  const lineOf = new Map<string, number>();
  for (const row of readRows(text)) {
    try {
      const key = readRow(row, options);
      if ('leftOut' in key) {
        leftOut[key.leftOut] = (leftOut[key.leftOut] ?? 0) + 1;
        continue;
      }
      const earlier = lineOf.get(key.hash);
      if (earlier !== undefined) throw new CellError(`its secret stands on line ${earlier} too`);
      lineOf.set(key.hash, row.line);
      keys.push(key);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      faults.push({ line: row.line, what: error.message });
    }
  }
  if (keys.length === 0 && faults.length === 0)
    throw new CommandError(`the file ${file} has no keys to import`);
  return { keys, faults, leftOut };
}

function faultsError(faults: readonly ImportFault[]): FaultsError {
  const sorted = faults.toSorted((one, other) => one.line - other.line);
  const lines = sorted.slice(0, MAX_SHOWN_FAULTS).map(({ line, what }) => `line ${line}: ${what}`);
  if (faults.length > lines.length) lines.push(`and ${faults.length - lines.length} more`);
  return new FaultsError(`nothing was imported, because of ${counted(faults.length, 'fault')}:`, lines);
}
