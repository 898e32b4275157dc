import { randomBytes } from 'node:crypto';
import { BACKGROUND_THREADS, createSemaphore } from '@gatehouse/concurrency';
import { earlierPasswordForms, preparedPassword, type Secret } from '@gatehouse/contract';
import { type HashTask, runArgon2 } from './argon2.ts';
import { createPasswordQueue, type PasswordCaller } from './password-queue.ts';

// Hashing is slow by design: a flood of sign-ins leaves one core to everything else, where there are two or more. Threads of lower
// priority of their own gave other requests no shorter times (bench/sign-in.ts), and took 24 MB.
const threads = createSemaphore({ permits: BACKGROUND_THREADS });

/** Runs a task in a thread. */
type RunTask = (task: HashTask) => Promise<string | boolean>;

export interface Passwords {
  /** Runs work that hashes a password, once the caller has a permit. Throws the 503 when the queue is full. */
  queued<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T>;
  /** Reserves a place in the queue for the next sign-in of a caller who has just signed in. */
  remember(caller: PasswordCaller): void;
  /** The Argon2id hash of the prepared password in PHC form. */
  hash(password: Secret): Promise<string>;
  /**
   * True if it is the password of the hash, in any Unicode form. Without a hash it does the same work as for a wrong password and answers
   * false: one hash, and one more for each other form of this password, of which most have none.
   */
  matches(password: Secret, hash: string | null): Promise<boolean>;
  /** For a password that matches: its hash where the stored one is of another form, from before passwords were prepared. */
  renewed(password: Secret, hash: string): Promise<string | undefined>;
}

export function createPasswords(queueTimeoutMs?: number, runInThread: RunTask = runArgon2): Passwords {
  const run: RunTask = (task) => threads.run(() => runInThread(task));
  const queue = createPasswordQueue(queueTimeoutMs === undefined ? {} : { timeoutMs: queueTimeoutMs });
  const hash = async (password: string) => String(await run({ password: preparedPassword(password) }));
  let decoy: string | undefined;
  return {
    queued: queue.run,
    remember: queue.remember,
    hash: (password) => hash(password.reveal()),
    async matches(password, stored) {
      decoy ??= await hash(randomBytes(16).toString('hex'));
      const compared = stored ?? decoy;
      const text = password.reveal();
      for (const form of [preparedPassword(text), ...earlierPasswordForms(text)])
        if (await run({ password: form, stored: compared })) return stored !== null;
      return false;
    },
    async renewed(password, stored) {
      const text = password.reveal();
      if (earlierPasswordForms(text).length === 0) return undefined;
      return (await run({ password: preparedPassword(text), stored })) ? undefined : hash(text);
    },
  };
}

let commonest: ReadonlySet<string> | undefined;

/**
 * True if the password is among the commonest ones of past leaks, in any case and with the usual figures for letters, or is one thing
 * repeated, or a row of neighbours. The list leaves those out.
 */
export async function isCommonPassword(password: Secret): Promise<boolean> {
  // Only the list itself is remembered: an import that failed is tried again.
  commonest ??= await readCommonest();
  const list = commonest;
  const plain = preparedPassword(password.reveal()).toLowerCase();
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
