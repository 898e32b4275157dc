import { MasterKey } from '../vault/index.ts';

/** The master key of every test that does not care which. */
export const TEST_MASTER_KEY: MasterKey = MasterKey.generate();
