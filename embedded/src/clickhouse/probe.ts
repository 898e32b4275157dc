/** Is an engine answering on a socket, and when does it stop? */
import { type IncomingMessage, request } from 'node:http';

export const ENGINE_PID_HEADER = 'x-gatehouse-engine-pid';
export const OWNER_PID_HEADER = 'x-gatehouse-owner-pid';

export type EngineSighting = { readonly enginePid: number; readonly ownerPid: number };

/** Asks once. Null when nobody answers within `timeoutMs`. */
export async function pingEngine(socketPath: string, timeoutMs = 2_000): Promise<EngineSighting | null> {
  const { promise, resolve } = Promise.withResolvers<EngineSighting | null>();
  const signal = AbortSignal.timeout(timeoutMs);
  const call = request({ socketPath, path: '/ping', agent: false, signal }, (response) => {
    response.resume();
    response.on('error', () => resolve(null));
    response.on('end', () => resolve(response.statusCode === 200 ? readSighting(response) : null));
  });
  call.on('error', () => resolve(null));
  call.end();
  return promise;
}

/** What the engine sends to its watchers when it leaves in good order. */
export const FAREWELL = 'leaving\n';

/**
 * Settles when the engine has gone, or at once when nobody answers. The connection that it holds open is closed by
 * the kernel even when the engine is killed. True when the engine took its leave, and so will not be restarted.
 */
export async function watchEngine(
  socketPath: string,
  signal: AbortSignal,
  onSighting: (sighting: EngineSighting) => void,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const call = request({ socketPath, path: '/watch', agent: false, signal }, (response) => {
    let text = '';
    onSighting(readSighting(response));
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.on('error', () => resolve(false));
    response.on('close', () => resolve(text === FAREWELL));
  });
  call.on('error', () => resolve(false));
  call.end();
  return promise;
}

function readSighting(response: IncomingMessage): EngineSighting {
  return {
    enginePid: Number(response.headers[ENGINE_PID_HEADER]),
    ownerPid: Number(response.headers[OWNER_PID_HEADER]),
  };
}
