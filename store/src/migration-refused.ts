/** A store's schema is not one that this version can bring up to date. The message says why, for an operator. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}
