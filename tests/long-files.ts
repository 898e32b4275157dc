/** The test files that take longest on two cores, longest first. `npm test` prints those of its own run. */
export const LONG_FILES: readonly string[] = [
  'tests/journey/operator.test.ts',
  'tests/drills/ledger-simulation.test.ts',
  'tests/journey/attacks.test.ts',
  'tests/journey/demo.test.ts',
  'tests/journey/backup.test.ts',
  'tests/journey/gateway-process.test.ts',
  'embedded/src/postgres/launch.test.ts',
  'tests/drills/several-gateway-processes.test.ts',
  'tests/journey/lifecycle.test.ts',
  'tests/journey/catalogue.test.ts',
  'tests/drills/vault-rotation.test.ts',
];
