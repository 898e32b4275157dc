/** True if an engine answers on a socket, and when it stops. */
import { type IncomingMessage, request } from 'node:http';

export const ENGINE_PID_HEADER = 'x-gatehouse-engine-pid';
export const LEADER_PID_HEADER = 'x-gatehouse-leader-pid';

export type EngineStatus = { readonly enginePid: number; readonly leaderPid: number };

/** Null when no engine answers within `timeoutMs`. */
export async function pingEngine(socketPath: string, timeoutMs = 2_000): Promise<EngineStatus | null> {
  const { promise, resolve } = Promise.withResolvers<EngineStatus | null>();
  const signal = AbortSignal.timeout(timeoutMs);
  const call = request({ socketPath, path: '/ping', agent: false, signal }, (response) => {
    response.resume();
    response.on('error', () => resolve(null));
    response.on('end', () => resolve(response.statusCode === 200 ? readStatus(response) : null));
  });
  call.on('error', () => resolve(null));
  call.end();
  return promise;
}

/** The message that the engine sends to its watchers at an orderly stop. */
export const STOPPING_MESSAGE = 'leaving\n';

/**
 * Resolves when the engine has ended, or at once when none answers. The kernel closes the open connection even when the
 * engine is killed. True after an orderly stop: its leader will not restart it.
 */
export async function watchEngine(
  socketPath: string,
  signal: AbortSignal,
  onStatus: (status: EngineStatus) => void,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const call = request({ socketPath, path: '/watch', agent: false, signal }, (response) => {
    let text = '';
    onStatus(readStatus(response));
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.on('error', () => resolve(false));
    response.on('close', () => resolve(text === STOPPING_MESSAGE));
  });
  call.on('error', () => resolve(false));
  call.end();
  return promise;
}

function readStatus(response: IncomingMessage): EngineStatus {
  return {
    enginePid: Number(response.headers[ENGINE_PID_HEADER]),
    leaderPid: Number(response.headers[LEADER_PID_HEADER]),
  };
}
