import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import {
  ANSWER_BYTES,
  HELLO_BYTES,
  MessageReader,
  QUESTION_BYTES,
  readQuestion,
  writeAnswer,
} from './keeper-protocol.ts';
import { SlidingWindow } from './sliding-window.ts';

/*
 * Counts the requests of keys for all gateway processes of a port: one exact window, which outlives each of them. They
 * ask over a Unix socket. Who does not know the secret, or says anything but a question, loses the connection.
 */
export interface RateKeeper extends AsyncDisposable {
  /** How many keys are counted now. */
  readonly keys: number;
}

export interface RateKeeperOptions {
  /** The path that it listens on; whatever is there is replaced. */
  readonly path: string;
  readonly secret: Buffer;
  readonly monotonicMs: () => number;
  readonly helloTimeoutMs?: number;
}

// A process has one connection, and for a moment two.
const MAX_CONNECTIONS = 256;
const HELLO_TIMEOUT_MS = 5_000;

export async function openRateKeeper(options: RateKeeperOptions): Promise<RateKeeper> {
  const { path, secret, monotonicMs, helloTimeoutMs = HELLO_TIMEOUT_MS } = options;
  const id = randomBytes(HELLO_BYTES);
  const window = new SlidingWindow(monotonicMs);
  const connections = new Set<Socket>();

  const serve = (socket: Socket): void => {
    const reader = new MessageReader();
    let isKnown = false;
    const late = setTimeout(() => socket.destroy(), helloTimeoutMs).unref();
    connections.add(socket);
    // Its end says the same.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(late);
      connections.delete(socket);
    });
    socket.on('drain', () => socket.resume());
    socket.on('data', (chunk: Buffer) => {
      let bytes = chunk;
      if (!isKnown) {
        const hello = reader.readFirst(chunk, HELLO_BYTES);
        if (!hello) return;
        if (!timingSafeEqual(hello.first, secret)) return void socket.destroy();
        isKnown = true;
        clearTimeout(late);
        socket.write(id);
        bytes = hello.rest;
      }
      const answers = answerAll(reader.read(bytes, QUESTION_BYTES), window);
      if (!answers) socket.destroy();
      // Nothing more is read from a process that does not read.
      else if (answers.length > 0 && !socket.write(answers)) socket.pause();
    });
  };

  const server = createServer(serve);
  server.maxConnections = MAX_CONNECTIONS;
  await rm(path, { force: true });
  await once(server.listen(path), 'listening');
  await chmod(path, 0o600);
  return {
    get keys() {
      return window.size;
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

/** The answers to whole questions; undefined when one of them is none. */
function answerAll(questions: Buffer, window: SlidingWindow): Buffer | undefined {
  const answers = Buffer.allocUnsafe((questions.length / QUESTION_BYTES) * ANSWER_BYTES);
  let length = 0;
  for (let offset = 0; offset < questions.length; offset += QUESTION_BYTES) {
    const question = readQuestion(questions, offset);
    if (!question) return undefined;
    if (question.kind === 'remember') {
      window.remember(question.keyId, question.ageMs);
      continue;
    }
    const { kind, keyId, limitRpm } = question;
    writeAnswer(
      answers,
      length,
      kind === 'take' ? window.take(keyId, limitRpm) : window.peek(keyId, limitRpm),
    );
    length += ANSWER_BYTES;
  }
  return answers.subarray(0, length);
}
