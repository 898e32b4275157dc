import { after } from 'node:test';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** A database for all tests of the calling file, which is dropped after the last of them. */
export async function useTestDatabase(): Promise<TestDatabase> {
  const test = await createTestDatabase();
  after(() => test[Symbol.asyncDispose]());
  return test;
}
