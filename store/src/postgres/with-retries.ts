import { DatabaseUnavailable, isRetryable } from './errors.ts';

const RETRIES = 3;

/** Does the work, a transaction, again when PostgreSQL ended it because of another one. @throws DatabaseUnavailable after three retries. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (attempt === RETRIES)
        throw new DatabaseUnavailable('the transaction kept colliding with others', { cause: error });
    }
  }
}
