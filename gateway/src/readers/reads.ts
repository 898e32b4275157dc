import { type EchoRequest, readEcho } from '../demo/read-echo.ts';
import { readRequest } from '../protocols/read-request.ts';
import type { RequestReading } from '../protocols/request-facts.ts';

/** What can be read from a body, here or in another thread: pure functions from bytes to plain data. */
export interface Reads {
  request(body: Buffer, endpoint: string): Promise<RequestReading>;
  echo(body: Buffer, endpoint: string): Promise<EchoRequest>;
}

export const READS: Reads = {
  request: (body, endpoint) => readRequest(endpoint, body),
  echo: (body) => readEcho(body),
};

export type ReadOf<Kind extends keyof Reads> = Awaited<ReturnType<Reads[Kind]>>;

/** What is sent to a reader thread. The body's memory goes with it, and comes back with the answer. */
export interface Assignment {
  readonly kind: keyof Reads;
  readonly endpoint: string;
  readonly body: ArrayBuffer;
}

export interface Reply {
  readonly result: ReadOf<keyof Reads>;
  readonly body: ArrayBuffer;
}
