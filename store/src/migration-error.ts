/** A store's schema is not one that this version can migrate. The message tells the operator why. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
