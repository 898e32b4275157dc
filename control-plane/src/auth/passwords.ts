import { randomBytes } from 'node:crypto';
import { Secret } from '@gatehouse/contract';
import { openHashThreads } from './hash-threads.ts';
import { createPasswordQueue, type PasswordCaller } from './password-queue.ts';

const threads = openHashThreads();

const hash = (password: Secret): Promise<string> => threads.run({ password: password.reveal() });

export interface Passwords {
  /** Runs work that hashes a password, once the caller has a permit. Throws the 503 when the queue is full. */
  queued<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T>;
  /** Reserves a place in the queue for the next sign-in of a caller who has just signed in. */
  remember(caller: PasswordCaller): void;
  /** The Argon2id hash in PHC form. */
  hash(password: Secret): Promise<string>;
  /** Whether it is the password of the hash. Without a hash it does the same work and answers false. */
  matches(password: Secret, hash: string | null): Promise<boolean>;
}

export function createPasswords(queueTimeoutMs?: number): Passwords {
  const queue = createPasswordQueue(queueTimeoutMs === undefined ? {} : { timeoutMs: queueTimeoutMs });
  let decoy: string | undefined;
  return {
    queued: queue.run,
    remember: queue.remember,
    hash,
    async matches(password, stored) {
      decoy ??= await hash(new Secret(randomBytes(16).toString('hex')));
      const isMatch = await threads.run<boolean>({ password: password.reveal(), stored: stored ?? decoy });
      return stored !== null && isMatch;
    },
  };
}

let commonest: ReadonlySet<string> | undefined;

/**
 * Whether the password is among the commonest ones of past leaks, in any case and with the usual figures for letters,
 * or is one thing repeated, or a row of neighbours. The list leaves those out.
 */
export async function isCommonPassword(password: Secret): Promise<boolean> {
  // Only the list itself is remembered: an import that failed is tried again.
  commonest ??= await readCommonest();
  const list = commonest;
  const plain = password.reveal().toLowerCase();
  const forms = [plain, withoutFigures(plain)].flatMap((form) => [form, form.replace(/[^a-z0-9]+$/, '')]);
  return forms.some((form) => list.has(form)) || isRepetition(plain) || isRow(plain);
}

async function readCommonest(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].map(String));
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

/** `aaaaaaaa`, `12341234`, `123123123`; longer repetitions do not occur in leaked passwords. */
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
