import { type Algorithm, hashSync, verifySync } from '@node-rs/argon2';

// Runs in a thread of its own; see passwords.ts.

const ARGON2ID = {
  // The package's enum is ambient; this is its member Argon2id.
  algorithm: 2 satisfies Algorithm.Argon2id as Algorithm,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};

/** Without `stored`, the Argon2id hash of the password in PHC form; else whether the password is the one of `stored`. */
export interface HashTask {
  readonly password: string;
  readonly stored?: string;
}

export function run({ password, stored }: HashTask): string | boolean {
  return stored === undefined ? hashSync(password, ARGON2ID) : verifySync(stored, password);
}
