import { randomBytes } from 'node:crypto';
import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { createPasswordQueue, type PasswordCaller } from './password-queue.ts';

// Hashing is made to be slow. Its threads are shared with files and names, so only a few may hash at once.

const HASHES_AT_ONCE = 2;

const ARGON2ID = {
  // The package's enum is ambient; this is its member Argon2id.
  algorithm: 2 satisfies Algorithm.Argon2id as Algorithm,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};

export interface Passwords {
  /** Runs work that hashes a password, once it is the caller's turn. Throws the 503 when the queue is full. */
  inLine<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T>;
  /** Reserves a place for the next sign-in of a caller who has just signed in. */
  remember(caller: PasswordCaller): void;
  /** The Argon2id hash in PHC form, once it is its turn. */
  hash(password: string): Promise<string>;
  /** Whether it is the password of the hash. Without a hash it does the same work and says no. */
  matches(password: string, hash: string | null): Promise<boolean>;
}

export function createPasswords(queueTimeoutMs?: number): Passwords {
  const inTurn = createTurns(HASHES_AT_ONCE);
  const queue = createPasswordQueue(queueTimeoutMs);
  let decoy: Promise<string> | undefined;
  return {
    inLine: queue.run,
    remember: queue.remember,
    hash: (password) => inTurn(() => hash(password, ARGON2ID)),
    matches: (password, stored) =>
      inTurn(async () => {
        decoy ??= hash(randomBytes(16), ARGON2ID);
        const isMatch = await verify(stored ?? (await decoy), password);
        return stored !== null && isMatch;
      }),
  };
}

/** Runs at most `atOnce` tasks together, and the others in the order in which they came. */
function createTurns(atOnce: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // A turn goes straight to the next who waits, so that nobody can slip in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

let commonest: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether the password is among the commonest ones of past leaks, in any case and with the usual figures for letters,
 * or is one thing repeated, or a row of neighbours. The list leaves those out.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  commonest ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].map(String)),
  );
  const list = await commonest;
  const plain = password.toLowerCase();
  const forms = [plain, withoutFigures(plain)].flatMap((form) => [form, form.replace(/[^a-z0-9]+$/, '')]);
  return forms.some((form) => list.has(form)) || isRepetition(plain) || isRow(plain);
}

const FIGURES: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '0': 'o',
  $: 's',
  '5': 's',
};

/** `p@ssw0rd1` as `password1`: figures that stand for letters, but not those at the end, which stand for themselves. */
function withoutFigures(text: string): string {
  const [, word = '', end = ''] = /^(.*?)([^a-z]*)$/s.exec(text) ?? [];
  return word.replaceAll(/[@430$5]/g, (figure) => FIGURES[figure] ?? figure) + end;
}

/** `aaaaaaaa`, `12341234`, `123123123`; what is longer than those of the leaks is nobody's habit. */
function isRepetition(text: string): boolean {
  return text.length <= 12 && /^(.{1,4}?)\1+$/su.test(text);
}

const ROWS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'].flatMap(
  (row) => [row, [...row].reverse().join('')],
);

/** `abcdefgh`, `87654321`. */
function isRow(text: string): boolean {
  return text !== '' && ROWS.some((row) => row.includes(text));
}
