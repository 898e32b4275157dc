import { sendWhole } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** An endpoint of the gateway: its method and its path. */
export interface Served {
  readonly method: string;
  readonly path: string;
}

/** No client calls a model there. */
const OTHERS = ['/', '/api/hello', '/healthz', '/readyz', '/v1/openapi.json'];

/** `GET /`: for a person who opens the gateway's address in a browser. */
export function showWhatIsServed(served: () => readonly Served[]): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const lines = [
      "This is a Gatehouse gateway. Point your client's base URL at /v1 of this address, and send a gateway key.",
      '',
      ...served().map(({ method, path }) => `  ${method.padEnd(4)} ${path}`),
      '',
    ];
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    sendWhole(exchange, 200, headers, Buffer.from(lines.join('\n')), {});
  };
}

const MAX_PATH_LENGTH = 100;

/** The message of a 404: what is served instead. The usual cause is a base URL with one `/v1` too many or too few. */
export function notServed(method: string, path: string, served: readonly Served[]): string {
  const models = served.filter((endpoint) => !OTHERS.includes(endpoint.path));
  const list = models.map((endpoint) => `${endpoint.method} ${endpoint.path}`).join(', ');
  const shown = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
  const meant = [path.replace(/^(\/v1){2,}/, '/v1'), `/v1${path}`].find((candidate) =>
    models.some((endpoint) => endpoint.path === candidate && candidate !== path),
  );
  const hint =
    meant === undefined
      ? ''
      : ` Use ${meant}: the client's base URL ${path.startsWith('/v1/v1') ? 'must not end in /v1' : 'must end in /v1'}.`;
  return `Not served: ${method} ${shown}.${hint} This gateway serves ${list}.`;
}
