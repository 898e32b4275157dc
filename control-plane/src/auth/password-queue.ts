import { createHmac, randomBytes } from 'node:crypto';
import { createFairScheduler, systemClock } from '@gatehouse/concurrency';
import { unavailable } from '@gatehouse/contract';
import { addressPrefix } from '../http/address-prefix.ts';

/*
 * A sign-in or a registration waits here for a permit before anything is done for it: hashing is slow by design, and of
 * five hundred requests that arrive at once most should cost nothing but their answer. Permits are given in two ways, so
 * that a flood of wrong passwords does not lock everyone else out:
 *
 * - Fairly by address prefix. A flood from one network waits behind itself; a request from another network is next. When
 *   the queue is full, a prefix with fewer places takes one from the prefix with the most.
 * - Separately, to accounts that signed in before from the same prefix, in this process. They have a queue of their own,
 *   which gets every other permit while both queues are in use. These accounts get in even when the flood shares their
 *   prefix, as on one host or in one office. An account holds one place there at a time.
 *
 * Neither changes what a request with a permit does, or its answer. What can be learnt: a caller in the same prefix that
 * keeps the queue full can tell by a 401 in place of a 503 that an account has signed in from there since the process
 * started. No other prefix learns it, and an account that has not signed in looks like one that does not exist.
 */
const WORKING = 4;
const QUEUE_OF_PREFIX = 20;
const QUEUE_OF_ALL = 200;
const QUEUE_OF_KNOWN_IN_PREFIX = 200;
const QUEUE_OF_KNOWN = 400;
/** Remembered accounts with their prefixes, the oldest dropped first; one or two megabytes. */
const KNOWN = 10_000;
const TIMEOUT_MS = 10_000;
// The answer of a request for which there is no place is delayed, because clients that try again at once take processor
// time from other requests. So many at a time; beyond that it is sent at once.
const REJECTION_DELAY_MS = 500;
const DELAYED_REJECTIONS = 1_000;

/** The request that wants to sign in or register. */
export interface PasswordCaller {
  readonly sourceIp: string;
  /** The address of the account to sign in to; none for one that is to be made. */
  readonly email: string | undefined;
  readonly gone: AbortSignal;
}

export interface PasswordQueue {
  /** Runs the work once the caller has a permit. Throws the 503 when the queue is full or no permit comes in time. */
  run<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T>;
  /** Keeps a place in the queue for the account's next sign-in from the same prefix. For proven sign-ins only. */
  remember(caller: PasswordCaller): void;
}

export interface PasswordQueueOptions {
  /** How long a request waits for a permit: 10 seconds unless given. */
  readonly timeoutMs?: number;
  /** How long the answer to a request without a place is delayed: half a second unless given. */
  readonly rejectionDelayMs?: number;
}

export function createPasswordQueue({
  timeoutMs = TIMEOUT_MS,
  rejectionDelayMs = REJECTION_DELAY_MS,
}: PasswordQueueOptions = {}): PasswordQueue {
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

  let delayed = 0;
  const delayRejection = async (gone: AbortSignal): Promise<void> => {
    if (rejectionDelayMs === 0 || delayed >= DELAYED_REJECTIONS) return;
    delayed += 1;
    await systemClock.sleep(rejectionDelayMs, gone).catch(() => undefined);
    delayed -= 1;
  };

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
          await delayRejection(gone);
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
