import { type Algorithm, hash, verify } from '@node-rs/argon2';

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

/** Runs in a thread of Node's pool: 7 ms. Rejects if what is stored is no hash. */
export function runArgon2({ password, stored }: HashTask): Promise<string | boolean> {
  return stored === undefined ? hash(password, ARGON2ID) : verify(stored, password);
}
