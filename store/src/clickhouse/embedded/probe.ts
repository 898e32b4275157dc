/** Is an engine answering on a socket, and when does it stop? */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

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

/**
 * Settles when the engine has gone, or at once when nobody answers. The connection that it holds open is closed by
 * the kernel even when the engine is killed.
 */
export async function watchEngine(
  socketPath: string,
  signal: AbortSignal,
  onSighting: (sighting: EngineSighting) => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let call: ClientRequest;
  try {
    call = request({ socketPath, path: '/watch', agent: false, signal });
  } catch {
    return;
  }
  call.on('response', (response) => {
    onSighting(readSighting(response));
    response.resume();
    response.on('error', () => resolve());
    response.on('close', () => resolve());
  });
  call.on('error', () => resolve());
  call.end();
  return promise;
}

function readSighting(response: IncomingMessage): EngineSighting {
  return {
    enginePid: Number(response.headers[ENGINE_PID_HEADER]),
    ownerPid: Number(response.headers[OWNER_PID_HEADER]),
  };
}
