import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { chunk, completion, delta } from '@gatehouse/gateway/testing';

// The servers of others, on Unix sockets, so that they can be reached from every network namespace.

export interface SocketServer extends AsyncDisposable {
  readonly path: string;
}

export interface Provider extends SocketServer {
  /** How many requests it has answered. */
  answered(): number;
}

const USAGE = { prompt: 8, completion: 10 };
const LAST_CHUNK = {
  choices: [],
  usage: { prompt_tokens: USAGE.prompt, completion_tokens: USAGE.completion, total_tokens: 18 },
};
const DONE = 'data: [DONE]\n\n';

async function serve(
  path: string,
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<SocketServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const one of request) chunks.push(one as Buffer);
    } catch {
      // The connection broke.
      return;
    }
    answer(request, response, Buffer.concat(chunks).toString());
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    path,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A model provider that answers at once, as a whole or as a stream. */
export async function startProvider(path: string): Promise<Provider> {
  let answered = 0;
  const server = await serve(path, (_, response, body) => {
    answered += 1;
    if ((JSON.parse(body) as { stream?: boolean }).stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write(chunk(delta('Hello ')));
      response.write(chunk(delta('there.', 'stop')));
      response.end(chunk(LAST_CHUNK) + DONE);
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(completion('Hello there.', USAGE)));
    }
  });
  return { ...server, answered: () => answered };
}

/** An OpenTelemetry collector that takes everything. */
export function startCollector(path: string): Promise<SocketServer> {
  return serve(path, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  });
}

/** An issuer of ID tokens. */
export interface Issuer extends SocketServer {
  readonly clientId: string;
  /** Signs with a key that nobody has seen yet, so that the next sign-in needs the issuer. */
  rotate(): void;
  /** A token for one account, issued now. */
  issue(): string;
}

export async function startIssuer(path: string, address: () => string): Promise<Issuer> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const clientId = 'drill.apps.example';
  let generation = 0;
  const keyId = () => `drill-${generation}`;
  const server = await serve(path, ({ url }, response) => {
    const issuer = address();
    const document = {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/sign-in`,
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    const key = { ...publicKey.export({ format: 'jwk' }), kid: keyId(), alg: 'RS256', use: 'sig' };
    response.end(JSON.stringify(url === '/keys' ? { keys: [key] } : document));
  });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    ...server,
    clientId,
    rotate() {
      generation += 1;
    },
    issue() {
      const nowSeconds = Math.floor(Date.now() / 1_000);
      const head = part({ alg: 'RS256', kid: keyId(), typ: 'JWT' });
      const claims = part({
        ...{ iss: address(), aud: clientId, sub: 'drill-account', iat: nowSeconds, exp: nowSeconds + 600 },
        ...{ email: 'drill@gmail.com', email_verified: true },
      });
      const signature = createSign('RSA-SHA256').update(`${head}.${claims}`).sign(privateKey, 'base64url');
      return `${head}.${claims}.${signature}`;
    },
  };
}
