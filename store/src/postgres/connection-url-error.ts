/** An address that cannot be used. Its message is safe to show. */
export class ConnectionUrlError extends Error {
  override readonly name = 'ConnectionUrlError';
}
