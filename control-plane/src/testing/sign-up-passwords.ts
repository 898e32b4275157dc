import { createPasswords, type Passwords } from '../auth/index.ts';

export const TEST_PASSWORD = 'correct horse battery staple';

// What the service itself makes of it. sign-up-passwords.http.test.ts compares the two.
const TEST_PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$OskM4d43Kdl0NLVrlfruzw$oawULIa3GLN1i4DvTANghwIJGHBC+bxtF9VA7F7CJ3g';

/** The service's passwords, except that those of accounts that tests only need are not hashed. */
export interface SignUpPasswords extends Passwords {
  /** While the work runs, the hash of TEST_PASSWORD is known beforehand. Any other password is hashed as always. */
  known<T>(work: () => Promise<T>): Promise<T>;
}

/** Tests sign up thousands of accounts, and each registration and each sign-in would hash for 45 ms of processor time. */
export function createSignUpPasswords(queueTimeoutMs: number): SignUpPasswords {
  const passwords = createPasswords(queueTimeoutMs);
  let signUps = 0;
  const isKnown = (password: string) => signUps > 0 && password === TEST_PASSWORD;
  return {
    ...passwords,
    async hash(password) {
      return isKnown(password.reveal()) ? TEST_PASSWORD_HASH : passwords.hash(password);
    },
    async matches(password, stored) {
      if (stored === TEST_PASSWORD_HASH && isKnown(password.reveal())) return true;
      return passwords.matches(password, stored);
    },
    async known(work) {
      signUps += 1;
      try {
        return await work();
      } finally {
        signUps -= 1;
      }
    },
  };
}
