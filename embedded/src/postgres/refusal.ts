/** Why the embedded server cannot run, as a sentence that an operator can act on. */
export class EmbeddedPostgresRefused extends Error {
  override readonly name = 'EmbeddedPostgresRefused';
}

/** Node's text for a file-system error without its stack: `EACCES: permission denied, open '/x'`. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
