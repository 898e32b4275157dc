// What the tabs of a browser agree on. Locks and channels are refused where cookies are blocked, and exist on HTTPS and on this
// machine only, as do the cookies of a session. A tab then acts for itself.

/** A tab that a phone has put to sleep in the middle of its work does not hold up the others for longer. */
const WAIT_MS = 30_000;

/** Runs the work while no other tab runs work under this name. Rejects as the work does. */
export async function exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  let isBegun = false;
  const begin = () => {
    isBegun = true;
    return work();
  };
  try {
    return await navigator.locks.request(name, { signal: AbortSignal.timeout(WAIT_MS) }, begin);
  } catch (error) {
    if (isBegun) throw error;
    return begin();
  }
}

/**
 * Raises a flag that all tabs can see for `ms`, or until this tab is closed. Resolves once they can: the browser has one list of
 * locks for all its processes, while storage and messages reach them at some later time.
 */
export async function raiseFlag(name: string, ms: number): Promise<void> {
  const raised = Promise.withResolvers<void>();
  const lowered = Promise.withResolvers<void>();
  const hold = () => {
    raised.resolve();
    setTimeout(lowered.resolve, ms);
    return lowered.promise;
  };
  try {
    // Several tabs may hold it.
    navigator.locks.request(name, { mode: 'shared' }, hold).catch(raised.resolve);
    await raised.promise;
  } catch {
    // There are no locks.
  }
}

/** True if a tab has raised the flag. */
export async function isFlagRaised(name: string): Promise<boolean> {
  try {
    const { held = [] } = await navigator.locks.query();
    return held.some((lock) => lock.name === name);
  } catch {
    return false;
  }
}

export interface Channel {
  /** Tells the other tabs. */
  send(message: unknown): void;
  /** Calls back for what another tab sent, or an extension. */
  receive(listener: (message: unknown) => void): void;
}

export function openChannel(name: string): Channel {
  try {
    const channel = new BroadcastChannel(name);
    return {
      send: (message) => channel.postMessage(message),
      receive: (listener) => channel.addEventListener('message', ({ data }) => listener(data)),
    };
  } catch {
    return { send: () => undefined, receive: () => undefined };
  }
}
