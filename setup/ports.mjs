// Whether the ports of the service are free, for the installation before a start. Plain JavaScript for the system's Node
// 20. The start itself checks all settings (cli/src/service/start-check.ts); this reads only what it needs to find a service that
// runs already, and leaves everything unusual to it.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import util from 'node:util';

/** A sentence about the first port that is in use, or undefined. */
export async function portInUse(environment) {
  const file = envFile();
  // An empty variable counts as unset: it hides no line of the file.
  const valueIn = (name) => environment[name]?.trim() || file[name]?.trim();
  const host = valueIn('HOST') || '127.0.0.1';
  for (const [name, fallback] of [
    ['PORT', '8080'],
    ['GATEWAY_PORT', '8081'],
  ]) {
    const text = valueIn(name) || fallback;
    const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
    if (port > 0 && port <= 65_535 && (await isTaken(host, port)))
      return `${name} is ${port}, and another program already listens on that port of ${host}; stop it if it is an earlier Gatehouse, or set ${name} to another port`;
  }
  return undefined;
}

function isTaken(host, port) {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(error.code === 'EADDRINUSE'));
    server.listen({ host, port }, () => server.close(() => resolve(false)));
  });
}

function envFile() {
  try {
    return util.parseEnv(readFileSync('.env', 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    // The start says why it cannot be read. Before Node 20.12 there is no parser.
    return {};
  }
}
