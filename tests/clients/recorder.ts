import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The request that a program sent. */
export interface Sent {
  readonly path: string;
  readonly text: string;
}

/** A proxy in front of the gateway that keeps what a program sends. */
export interface Recorder extends AsyncDisposable {
  readonly port: number;
  readonly sent: Sent[];
}

export async function startRecorder(gatewayPort: number): Promise<Recorder> {
  const sent: Sent[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url = '/', headers } = incoming;
    sent.push({ path: url, text: body.toString() });
    const { 'transfer-encoding': _, ...others } = headers;
    const forwarded = request(
      {
        host: '127.0.0.1',
        port: gatewayPort,
        method,
        path: url,
        headers: { ...others, 'content-length': body.length },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
