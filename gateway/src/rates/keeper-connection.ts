import { connect, type Socket } from 'node:net';
import type { Timers } from '@gatehouse/concurrency';
import {
  ANSWER_BYTES,
  HELLO_BYTES,
  MessageReader,
  QUESTION_BYTES,
  type Question,
  readAnswer,
  writeQuestion,
} from './keeper-protocol.ts';
import type { RateDecision } from './rate-limiter.ts';

/** The address of the rate keeper, and the secret that it is told first. */
export interface RateKeeperAddress {
  readonly path: string;
  /** In hexadecimal. */
  readonly secret: string;
}

export interface KeeperConnectionOptions extends RateKeeperAddress {
  readonly timers: Timers;
  readonly timeoutMs: number;
  /** Called once, when questions can be asked. `keeperId` differs between keepers, which do not know each other's counts. */
  readonly onOpen: (keeperId: string) => void;
  /** Called once. What was not answered is undecided by then. */
  readonly onClose: (error: Error) => void;
}

export interface KeeperConnection {
  /** Undefined when the connection ends before the answer comes, or when too many questions wait. */
  ask(kind: 'take' | 'peek', keyId: string, limitRpm: number): Promise<RateDecision | undefined>;
  /** Sends requests that were counted elsewhere. */
  remember(counted: Iterable<{ readonly keyId: string; readonly ageMs: number }>): void;
  close(): void;
}

const MAX_WAITING = 65_536;
const REMEMBERED_AT_ONCE = 4_096;

interface Waiting {
  readonly limitRpm: number;
  readonly resolve: (decision: RateDecision | undefined) => void;
}

/** One connection to the rate keeper. The questions of one turn of the event loop leave in one write. */
export function connectToKeeper(options: KeeperConnectionOptions): KeeperConnection {
  const { path, secret, timers, timeoutMs, onOpen, onClose } = options;
  const reader = new MessageReader();
  const waiting: Waiting[] = [];
  let answered = 0;
  let questions: Question[] = [];
  let isOpen = false;
  let isOver = false;
  let cancelTimeout: (() => void) | undefined;
  let error = new Error('the rate keeper closed the connection');

  const socket: Socket = connect(path);
  socket.unref();
  socket.on('error', (cause) => {
    error = cause;
  });
  socket.once('close', () => {
    isOver = true;
    cancelTimeout?.();
    onClose(error);
    for (const { resolve } of waiting.splice(0)) resolve(undefined);
  });
  socket.once('connect', () => socket.write(Buffer.from(secret, 'hex')));

  // Something is expected from now on. The answer may have come while this process was busy, so it is read first.
  const expect = () => {
    const before = answered;
    cancelTimeout = timers.after(timeoutMs, () => {
      setImmediate(() => {
        cancelTimeout = undefined;
        if (isOver) return;
        if (answered === before) {
          error = new Error(`the rate keeper did not answer within ${timeoutMs} ms`);
          socket.destroy();
        } else if (waiting.length > 0) expect();
      });
    });
  };
  expect();

  socket.on('data', (chunk: Buffer) => {
    let bytes = chunk;
    if (!isOpen) {
      const hello = reader.readFirst(chunk, HELLO_BYTES);
      if (!hello) return;
      isOpen = true;
      answered += 1;
      onOpen(hello.first.toString('hex'));
      bytes = hello.rest;
    }
    const answers = reader.read(bytes, ANSWER_BYTES);
    const count = answers.length / ANSWER_BYTES;
    if (count > waiting.length) {
      error = new Error('the rate keeper answered more than it was asked');
      return void socket.destroy();
    }
    answered += count;
    waiting.splice(0, count).forEach(({ limitRpm, resolve }, index) => {
      resolve(readAnswer(answers, index * ANSWER_BYTES, limitRpm));
    });
  });

  const send = (batch: readonly Question[]) => {
    const bytes = Buffer.allocUnsafe(batch.length * QUESTION_BYTES);
    batch.forEach((question, index) => {
      writeQuestion(bytes, index * QUESTION_BYTES, question);
    });
    socket.write(bytes);
  };
  const flush = () => {
    const batch = questions;
    questions = [];
    if (!isOver) send(batch);
  };

  return {
    ask(kind, keyId, limitRpm) {
      if (!isOpen || isOver || waiting.length >= MAX_WAITING) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<RateDecision | undefined>();
      waiting.push({ limitRpm, resolve });
      if (questions.length === 0) setImmediate(flush);
      questions.push({ kind, keyId, limitRpm });
      if (!cancelTimeout) expect();
      return promise;
    },
    remember(counted) {
      let batch: Question[] = [];
      for (const one of counted) {
        batch.push({ kind: 'remember', ...one });
        if (batch.length < REMEMBERED_AT_ONCE) continue;
        send(batch);
        batch = [];
      }
      if (batch.length > 0) send(batch);
    },
    close: () => socket.destroy(),
  };
}
