import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One numbered step of the schema, from `migrations/`. It is applied once and never changes. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** Versions whose newest step is this one or a later one work on the schema that this step leaves. Stated by a line
   *  `-- works with step N`; without it, only versions that know the step. */
  readonly worksWithStep: number;
}

/** SQL that is applied again whenever it changes: a function from `functions/`, or `grants.sql`. */
export interface SchemaFile {
  /** From the folder of the schema, such as `functions/admit_requests.sql`. */
  readonly path: string;
  readonly sql: string;
  readonly checksum: string;
}

/** The schema of one version. */
export interface Schema {
  readonly steps: readonly SchemaStep[];
  /** In the order in which they are applied. */
  readonly files: readonly SchemaFile[];
}

const directory = import.meta.dirname;
const WORKS_WITH = /^-- works with step (\d+)$/m;

/** This version's schema. @throws Error when the steps are not numbered 1, 2, 3, ... */
export async function readSchema(): Promise<Schema> {
  const [steps, functions] = await Promise.all([sqlFiles('migrations'), sqlFiles('functions')]);
  return {
    steps: steps.map(({ path, ...step }, index) => {
      const [file = ''] = path.split('/').slice(1);
      const number = Number(file.slice(0, 4));
      if (number !== index + 1) throw new Error(`migration ${file} should have number ${index + 1}`);
      const worksWithStep = Number(WORKS_WITH.exec(step.sql)?.[1] ?? number);
      return { ...step, number, name: file.slice(5, -4), worksWithStep };
    }),
    files: [...functions, await schemaFile('grants.sql')],
  };
}

/** The schema of the version whose newest step was this one. Before step 14 there were no files beside the steps. */
export async function readSchemaAt(number: number): Promise<Schema> {
  const { steps } = await readSchema();
  if (number > steps.length) throw new RangeError(`there is no step ${number}`);
  return { steps: steps.slice(0, number), files: [] };
}

async function sqlFiles(folder: string): Promise<SchemaFile[]> {
  const names = (await readdir(join(directory, folder))).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(names.map((name) => schemaFile(`${folder}/${name}`)));
}

async function schemaFile(path: string): Promise<SchemaFile> {
  const sql = await readFile(join(directory, path), 'utf8');
  return { path, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
