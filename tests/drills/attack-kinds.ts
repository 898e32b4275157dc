import { createHash, randomFillSync } from 'node:crypto';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { OddAnswer } from './attack-provider.ts';
import { expandingBodies, longInput } from './expanding-bodies.ts';

// Attacks with a few keys, one session and a laptop. Each attack runs until it is stopped, and reports the answers it
// got. All traffic stays on this machine.

export interface Target {
  readonly apiPort: number;
  readonly gatewayPort: number;
  /** Keys with a high rate, each of another organisation. */
  readonly secrets: readonly string[];
  /** Another key of the first organisation: its requests count to no other attack's rate. */
  readonly pipeliningSecret: string;
  /** A key of one request a minute. */
  readonly slowSecret: string;
  /** A session of the first organisation. */
  readonly cookie: string;
  /** A session of another organisation, which has many keys. */
  readonly mintingCookie: string;
  /** The size of a large body: a little below the limit. */
  readonly bodyBytes: number;
}

type Attack = (target: Target, signal: AbortSignal, note: (answer: string) => void) => Promise<void>;

const EVIL = 'evil/model';
const WORK = Buffer.alloc(64 * 1024);
/** Characters of three bytes: just within what is read at once, and within what is counted exactly. */
const SMALL_TEXT_CHARACTERS = 21_000;
const LARGE_TEXT_CHARACTERS = 990_000;

function largeBody(bytes: number, piece: string): Buffer {
  const head = `{"model":"${EVIL}","messages":[`;
  const pieces = Math.floor((bytes - head.length - 2) / (piece.length + 1));
  return Buffer.from(`${head}${`${piece},`.repeat(pieces - 1)}${piece}]}`);
}

/** Resolves with the status of the answer, or `closed`. */
function post(port: number, secret: string, body: Buffer, headers = {}, path = '/v1/chat/completions') {
  return new Promise<string>((resolve) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        path,
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'content-length': body.length,
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.on('close', () => resolve(String(response.statusCode)));
      },
    );
    sent.on('error', () => resolve('closed'));
    sent.end(body);
  });
}

async function together(count: number, work: (number: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, number) => work(number)));
}

async function repeat(signal: AbortSignal, pauseMs: number, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Four bodies at a time that are small as bytes and large once they are parsed. */
const emptyObjects: Attack = async ({ gatewayPort, secrets: [secret = ''], bodyBytes }, signal, note) => {
  const body = largeBody(bodyBytes, '{}');
  await together(4, () => repeat(signal, 20, async () => note(await post(gatewayPort, secret, body))));
};

/** Sixteen uploads of four organisations that stop just before their end. */
const idleUploads: Attack = async ({ gatewayPort, secrets, bodyBytes }, signal, note) => {
  const body = largeBody(bodyBytes, '{"role":"user","content":"x"}');
  await together(16, (number) =>
    repeat(signal, 100, async () => {
      const socket = connect(gatewayPort, '127.0.0.1');
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.once('data', (head) => note(String(head).slice(9, 12)));
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secrets[number % 4]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
      );
      socket.write(body.subarray(0, -1_000));
      await Promise.race([closed, aborted(signal)]);
      socket.destroy();
    }),
  );
};

/** A key of one request a minute that sends as much as it can. */
const beyondTheRate: Attack = async ({ gatewayPort, slowSecret, bodyBytes }, signal, note) => {
  const body = largeBody(bodyBytes, `{"role":"user","content":"${'word '.repeat(1_000)}"}`);
  await together(4, () => repeat(signal, 20, async () => note(await post(gatewayPort, slowSecret, body))));
};

/** Eight connections of one caller, each with more requests than may wait, and another as soon as one is closed. */
function pipelining(choose: (target: Target) => { port: number; head: string }): Attack {
  return async (target, signal, note) => {
    const { port, head } = choose(target);
    const batch = Buffer.from(head.repeat(50));
    await together(8, () =>
      repeat(signal, 10, async () => {
        const socket = connect(port, '127.0.0.1');
        const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
        socket.on('error', () => undefined);
        socket.on('data', (bytes) => {
          for (const [, status = ''] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g))
            note(status);
        });
        const feed = () => {
          while (!signal.aborted && socket.writable && socket.write(batch));
        };
        socket.on('drain', feed);
        feed();
        await Promise.race([closed, aborted(signal)]);
        socket.destroy();
      }),
    );
  };
}

/** Twenty-four large answers that are read very slowly, half of them endless streams. */
const slowReaders: Attack = async ({ gatewayPort, secrets }, signal, note) => {
  await together(24, (number) =>
    repeat(signal, 100, async () => {
      const body = requestFor(number % 2 === 0 ? 'large' : 'endless');
      const socket = connect(gatewayPort, '127.0.0.1');
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secrets[number % 4]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
      );
      socket.write(body);
      socket.once('data', (head) => note(String(head).slice(9, 12)));
      await Promise.race([closed, sipping(socket, signal), aborted(signal)]);
      socket.destroy();
    }),
  );
};

async function sipping(socket: Socket, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !socket.destroyed) {
    socket.resume();
    await delay(1);
    socket.pause();
    await delay(500);
  }
}

/** Refused requests with the maximum of metadata. */
const refusedFlood: Attack = async ({ gatewayPort, slowSecret }, signal, note) => {
  const labels = Object.fromEntries(
    Array.from({ length: 13 }, (_, number) => [`x-svc-meta-label${number}`, 'x'.repeat(1_000)]),
  );
  const body = Buffer.from(JSON.stringify({ model: EVIL, messages: [{ role: 'user', content: 'x' }] }));
  await together(8, () =>
    repeat(signal, 0, async () => note(await post(gatewayPort, slowSecret, body, labels))),
  );
};

/** Wrong passwords for unknown accounts. */
const wrongPasswords: Attack = async ({ apiPort }, signal, note) => {
  let number = 0;
  await together(64, () =>
    repeat(signal, 0, async () => {
      number += 1;
      const body = Buffer.from(
        JSON.stringify({ email: `nobody${number}@example.com`, password: 'not right' }),
      );
      note(await post(apiPort, '', body, {}, '/api/auth/login'));
    }),
  );
};

/** Requests that the provider answers with malformed or extreme answers (attack-provider.ts). */
const oddAnswers: Attack = async ({ gatewayPort, secrets }, signal, note) => {
  const kinds: readonly OddAnswer[] = ['bytes', 'nested', 'status', 'hints', 'large'];
  await together(10, (number) =>
    repeat(signal, 20, async () => {
      const kind = kinds[number % kinds.length] ?? 'bytes';
      note(`${kind} ${await post(gatewayPort, secrets[number % 4] ?? '', requestFor(kind))}`);
    }),
  );
};

/** As many keys as can be minted, and ninety-six connections that ask for the list of them and read nothing. */
const unreadLists: Attack = async ({ apiPort, mintingCookie: cookie }, signal, note) => {
  const api = `http://127.0.0.1:${apiPort}/api`;
  const { projects } = (await (await fetch(`${api}/projects`, { headers: { cookie } })).json()) as {
    projects: { id: string }[];
  };
  const key = Buffer.from(JSON.stringify({ project_id: projects[0]?.id, name: 'k'.repeat(255) }));
  const minting = together(4, () =>
    repeat(signal, 0, async () => note(`mint ${await post(apiPort, '', key, { cookie }, '/api/keys')}`)),
  );
  const reading = together(96, () =>
    repeat(signal, 100, async () => {
      const socket = connect(apiPort, '127.0.0.1');
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(`GET /api/keys HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`);
      // A socket that is not read does not report that it was closed.
      await Promise.race([closed, delay(5_000, undefined, { signal }).catch(() => undefined)]);
      socket.destroy();
    }),
  );
  await Promise.all([minting, reading]);
};

/** Requests for a model that there is not, whose text is as expensive to count as text can be, always another. Half of the bodies are small. */
const expensiveText: Attack = async ({ gatewayPort, secrets }, signal, note) => {
  await together(8, (number) =>
    repeat(signal, 20, async () => {
      const text = ideographs(number < 4 ? SMALL_TEXT_CHARACTERS : LARGE_TEXT_CHARACTERS);
      const body = JSON.stringify({ model: 'no/model', messages: [{ role: 'user', content: text }] });
      note(await post(gatewayPort, secrets[number % 4] ?? '', Buffer.from(body)));
    }),
  );
};

/** Forty small bodies at a time whose answers are many thousand times as large, and two large ones whose every word is work. */
const expandingAnswers: Attack = async ({ gatewayPort, secrets }, signal, note) => {
  const small = expandingBodies();
  const long = longInput();
  await together(42, (number) =>
    repeat(signal, 20, async () => {
      const { path, body } = (number < 40 ? small[number % small.length] : undefined) ?? long;
      note(await post(gatewayPort, secrets[number % 4] ?? '', body, {}, path));
    }),
  );
};

function ideographs(count: number): string {
  const units = randomFillSync(new Uint16Array(count)).map((unit) => 0x4e00 + (unit % 20_000));
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Load that does not use the service: its effect is the machine's, not the service's. */
const busyMachine: Attack = async (_target, signal) => {
  while (!signal.aborted) {
    for (let round = 0; round < 100; round += 1) createHash('sha256').update(WORK).digest();
    await new Promise((resolve) => setImmediate(resolve));
  }
};

function requestFor(kind: OddAnswer): Buffer {
  const messages = [{ role: 'user', content: kind }];
  const stream = kind === 'bytes' || kind === 'endless';
  return Buffer.from(JSON.stringify({ model: EVIL, messages, max_tokens: 16, stream }));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export const ATTACKS = {
  'busy machine, no attack': busyMachine,
  'bodies of empty objects': emptyObjects,
  'idle uploads': idleUploads,
  'large bodies beyond the rate': beyondTheRate,
  'pipelining to the API': pipelining(({ apiPort, cookie }) => ({
    port: apiPort,
    head: `GET /api/keys HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`,
  })),
  'pipelining to the gateway': pipelining(({ gatewayPort, pipeliningSecret }) => ({
    port: gatewayPort,
    head: `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${pipeliningSecret}\r\n\r\n`,
  })),
  'slow readers of large answers': slowReaders,
  'lists that nobody reads': unreadLists,
  'refused requests with labels': refusedFlood,
  'wrong passwords': wrongPasswords,
  'text that is expensive to count': expensiveText,
  'odd answers of a provider': oddAnswers,
  'answers that expand': expandingAnswers,
} satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof ATTACKS;
export const ATTACK_NAMES = Object.keys(ATTACKS) as AttackName[];
