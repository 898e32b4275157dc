import type pg from 'pg';
import { MigrationError } from '../migration-error.ts';
import { findRightsDifferences, type RightsDifference } from './rights.ts';
import { RETENTION_ROLE } from './roles.ts';
import type { SchemaFile } from './schema-files.ts';

/**
 * Restores owners, functions and rights to what the schema says, in one transaction.
 * @throws MigrationError with the statements for an administrator when the login may not, or when something is still different
 */
export async function repairRights(
  client: pg.Client,
  differences: readonly RightsDifference[],
  files: readonly SchemaFile[],
  applyFile: (file: SchemaFile) => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<{ schema: string }>('SELECT quote_ident(current_schema()) AS schema');
  const schema = rows[0]?.schema;
  // The new owner of a function must be able to make one there.
  const statements = [
    `GRANT CREATE ON SCHEMA ${schema} TO ${RETENTION_ROLE}`,
    ...differences.flatMap(({ repair }) => repair ?? []),
    `REVOKE CREATE ON SCHEMA ${schema} FROM ${RETENTION_ROLE}`,
  ];
  const paths = new Set(differences.map(({ file }) => file));
  await client.query('BEGIN');
  try {
    await client.query(statements.join(';\n'));
    for (const file of files) if (paths.has(file.path)) await applyFile(file);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw notRepaired(differences, statements, error);
  }
  const left = await findRightsDifferences(client);
  if (left.length > 0) throw notRepaired(left, []);
}

function notRepaired(
  differences: readonly RightsDifference[],
  statements: readonly string[],
  cause?: unknown,
): MigrationError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  const remedy =
    statements.length > 0
      ? `have an administrator run: ${statements.join('; ')};`
      : 'correct it by hand, or restore the database again';
  return new MigrationError(
    `owners or rights in the database differ from this version's schema and cannot be repaired${why}: ${differences.map(({ name }) => name).join('; ')}; ${remedy}`,
    { cause },
  );
}
