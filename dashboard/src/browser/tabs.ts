// What the tabs of a browser agree on. Locks and channels are refused where cookies are blocked, and exist on HTTPS and on this
// machine only, as do the cookies of a session. A tab then acts for itself.

/** Runs the work while no other tab runs work under this name. Rejects as the work does. */
export async function exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  let isBegun = false;
  const begin = () => {
    isBegun = true;
    return work();
  };
  try {
    return await navigator.locks.request(name, begin);
  } catch (error) {
    if (isBegun) throw error;
    return begin();
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
