import { MasterKey } from '../vault/index.ts';

/** The master key for tests that need any. */
export const TEST_MASTER_KEY: MasterKey = MasterKey.generate();
