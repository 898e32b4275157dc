import { createHmac, randomBytes } from 'node:crypto';
import { createFairScheduler } from '@gatehouse/concurrency';
import { unavailable } from '@gatehouse/contract';
import { addressPrefix } from '../http/address-prefix.ts';

/*
 * Who signs in or registers waits here before anything is done for the request: hashing is made to be slow, and of five
 * hundred that come at once most should cost nothing but their answer. So that a crowd of wrong passwords does not lock
 * everybody else out, places are given in two ways:
 *
 * - Fairly by address prefix. A crowd from one network waits behind itself; somebody from another is next. Where all
 *   places are taken, a prefix that has fewer takes one from the prefix that has most.
 * - Apart from that, to accounts that have signed in before from the same prefix, in this process. They have a queue of
 *   their own, which gets every other turn while both are in use. So they get in even where the crowd shares their
 *   prefix, as on one host or in one office. An account has one place there at a time.
 *
 * Neither changes what is done for a request that got its turn, or its answer. What can be learnt: somebody in the same
 * prefix, who keeps all places taken, can tell by a 401 in place of a 503 that an account has signed in from there since
 * the process started. No other prefix learns it, and nothing tells an account that did not from one that does not exist.
 */
const WORKING = 4;
const QUEUE_OF_PREFIX = 20;
const QUEUE_OF_ALL = 200;
const QUEUE_OF_KNOWN_IN_PREFIX = 200;
const QUEUE_OF_KNOWN = 400;
/** The latest so many accounts with their prefixes; a megabyte or two. */
const KNOWN = 10_000;
const TIMEOUT_MS = 10_000;

/** Who wants to sign in or register. */
export interface PasswordCaller {
  readonly sourceIp: string;
  /** Of the account to sign in to; none for one that is to be made. */
  readonly email: string | undefined;
  readonly gone: AbortSignal;
}

export interface PasswordQueue {
  /** Runs the work once it is the caller's turn. Throws the 503 where the queue is full or the turn does not come. */
  run<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T>;
  /** Keeps a place for the account when it comes from there again. To be called for proven sign-ins only. */
  remember(caller: PasswordCaller): void;
}

export function createPasswordQueue(timeoutMs = TIMEOUT_MS): PasswordQueue {
  const permits = { permits: WORKING, permitsPerTenant: WORKING };
  // Fair within each queue by prefix, and then between the two.
  const queues = createFairScheduler({ ...permits, queuePerTenant: WORKING });
  const others = createFairScheduler({
    ...permits,
    queuePerTenant: QUEUE_OF_PREFIX,
    queueTotal: QUEUE_OF_ALL,
    timeoutMs,
  });
  const known = createFairScheduler({
    ...permits,
    queuePerTenant: QUEUE_OF_KNOWN_IN_PREFIX,
    queueTotal: QUEUE_OF_KNOWN,
    timeoutMs,
  });
  // Hashes, not the addresses: reading the memory of the process reveals none of them.
  const secret = randomBytes(32);
  /** Oldest first. */
  const signedIn = new Set<string>();
  /** The known accounts that have a place right now. */
  const waiting = new Set<string>();

  const pairOf = (prefix: string, email: string) =>
    createHmac('sha256', secret).update(`${prefix} ${email}`).digest('base64');

  return {
    async run({ sourceIp, email, gone }, work) {
      const prefix = addressPrefix(sourceIp);
      const pair = pairOf(prefix, email ?? '');
      const isKnown = signedIn.has(pair) && !waiting.has(pair);
      if (isKnown) waiting.add(pair);
      try {
        using stack = new DisposableStack();
        try {
          stack.use(await (isKnown ? known : others).acquire(prefix, gone));
          stack.use(await queues.acquire(isKnown ? 'known' : 'others', gone));
        } catch {
          throw unavailable('Too many people sign in or register at once. Try again in a moment.', 1);
        }
        return await work();
      } finally {
        if (isKnown) waiting.delete(pair);
      }
    },
    remember({ sourceIp, email }) {
      const pair = pairOf(addressPrefix(sourceIp), email ?? '');
      signedIn.delete(pair);
      signedIn.add(pair);
      const [oldest] = signedIn;
      if (signedIn.size > KNOWN && oldest !== undefined) signedIn.delete(oldest);
    },
  };
}
