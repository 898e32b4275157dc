import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { CommandError, type RedisCommands, type RedisValue, runRedisScript } from './run-redis-script.ts';

/*
 * A small Redis for machines that have none: lists, sorted sets and scripts over the real protocol, with a clock that
 * a test moves. Scripts run in a real Lua.
 */
export interface FakeRedis extends AsyncDisposable {
  readonly port: number;
  /** Microseconds since the epoch. */
  nowUs: number;
  /** Answers every command like this while it is set, or not at all when it is `silence`. */
  reply: string | undefined;
  /** The answer of INFO about the memory, and that of CONFIG GET; each is refused where it is undefined. */
  memoryInfo: string | undefined;
  maxmemoryPolicy: string | undefined;
  /** The names of the commands so far. */
  readonly commands: string[];
  /** How many connections are open. */
  readonly connections: number;
  readonly keys: readonly string[];
  /** The length of a list. */
  lengthOf(key: string): number;
  /** Forgets everything, scripts included. */
  clear(): void;
  /** Ends the connections and no longer listens. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
}

export interface FakeRedisOptions {
  readonly tls?: TlsOptions;
  readonly password?: string;
}

export async function startFakeRedis({ tls, password }: FakeRedisOptions = {}): Promise<FakeRedis> {
  const lists = new Map<string, string[]>();
  const sets = new Map<string, Map<string, number>>();
  const scripts = new Map<string, string>();
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;

  const list = (key: string) => {
    const values = lists.get(key) ?? [];
    lists.set(key, values);
    return values;
  };
  const place = (text: string, length: number) => (Number(text) < 0 ? length + Number(text) : Number(text));
  const bound = (text: string) => (text === '-inf' ? -Infinity : text === '+inf' ? Infinity : Number(text));
  const simple: RedisCommands = {
    ping: () => '+PONG',
    info: (section = '') => {
      if (section === 'cluster') return 'cluster_enabled:0';
      if (fake.memoryInfo === undefined) throw new CommandError('NOPERM no permission to run INFO');
      return fake.memoryInfo;
    },
    config: (_get, name = '') => {
      if (fake.maxmemoryPolicy === undefined) throw new CommandError(`ERR unknown command 'config'`);
      return [name, fake.maxmemoryPolicy];
    },
    time: () => [String(Math.floor(fake.nowUs / 1e6)), String(fake.nowUs % 1e6)],
    llen: (key = '') => lists.get(key)?.length ?? 0,
    lindex: (key = '', index = '') => {
      const values = lists.get(key) ?? [];
      return values[place(index, values.length)] ?? null;
    },
    lrange: (key = '', first = '', last = '') => {
      const values = lists.get(key) ?? [];
      return values.slice(place(first, values.length), place(last, values.length) + 1);
    },
    rpush: (key = '', ...values) => list(key).push(...values),
    ltrim: (key = '', first = '', last = '') => {
      const values = list(key);
      lists.set(key, values.slice(place(first, values.length), place(last, values.length) + 1));
      return '+OK';
    },
    del: (key = '') => Number(lists.delete(key)),
    pexpire: (_key, ms = '') => {
      if (!/^[0-9]+$/.test(ms)) throw new CommandError('ERR value is not an integer or out of range');
      return 1;
    },
    zadd: (key = '', score = '', member = '') => {
      const set = sets.get(key) ?? new Map<string, number>();
      sets.set(key, set.set(member, Number(score)));
      return 1;
    },
    zcard: (key = '') => sets.get(key)?.size ?? 0,
    zrem: (key = '', member = '') => Number(sets.get(key)?.delete(member) ?? false),
    zremrangebyscore: (key = '', from = '', to = '') => {
      const set = sets.get(key) ?? new Map<string, number>();
      for (const [member, score] of set) if (score >= bound(from) && score <= bound(to)) set.delete(member);
      return 0;
    },
    eval: (source = '', ...given) => {
      scripts.set(createHash('sha1').update(source).digest('hex'), source);
      return runRedisScript(source, given, simple);
    },
    evalsha: (hash = '', ...given) => {
      const source = scripts.get(hash);
      if (source === undefined) throw new CommandError('NOSCRIPT No matching script.');
      return runRedisScript(source, given, simple);
    },
  };

  const serve = (socket: Socket): void => {
    let text = '';
    let isKnown = password === undefined;
    sockets.add(socket.on('error', () => undefined).once('close', () => sockets.delete(socket)));
    socket
      .setNoDelay()
      .setEncoding('latin1')
      .on('data', (chunk) => {
        const read = readCommands(text + chunk);
        text = read.rest;
        for (const [name = '', ...given] of read.commands) {
          commands.push(name.toLowerCase());
          if (fake.reply === 'silence') continue;
          if (name.toLowerCase() === 'auth') {
            isKnown ||= given.at(-1) === password;
            socket.write(isKnown ? '+OK\r\n' : '-WRONGPASS invalid username-password pair\r\n');
          } else if (!isKnown) socket.write('-NOAUTH Authentication required.\r\n');
          else socket.write(fake.reply ?? answerTo(simple[name.toLowerCase()], name, given));
        }
      });
  };

  const fake = {
    nowUs: 1_790_000_000_000_000,
    reply: undefined as string | undefined,
    memoryInfo: undefined as string | undefined,
    maxmemoryPolicy: undefined as string | undefined,
    commands,
    get port() {
      return port;
    },
    get connections() {
      return sockets.size;
    },
    get keys() {
      return [...lists.keys(), ...sets.keys()];
    },
    lengthOf: (key: string) => lists.get(key)?.length ?? 0,
    clear() {
      lists.clear();
      sets.clear();
      scripts.clear();
    },
    async stop() {
      if (!server?.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async start() {
      server = tls ? createTlsServer(tls, serve) : createServer(serve);
      await once(server.listen(port, '127.0.0.1'), 'listening');
      port = (server.address() as AddressInfo).port;
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
  await fake.start();
  return fake;
}

function answerTo(
  run: ((...given: string[]) => RedisValue) | undefined,
  name: string,
  given: string[],
): string {
  try {
    if (!run) throw new CommandError(`ERR unknown command '${name}'`);
    return encode(run(...given));
  } catch (error) {
    return `-${(error as Error).message.replaceAll(/[\r\n]+/g, ' ')}\r\n`;
  }
}

function encode(value: RedisValue): string {
  if (value === null) return '$-1\r\n';
  if (Array.isArray(value)) return `*${value.length}\r\n${value.map(encode).join('')}`;
  if (typeof value === 'number') return `:${Math.trunc(value)}\r\n`;
  return value.startsWith('+') ? `${value}\r\n` : `$${value.length}\r\n${value}\r\n`;
}

/** The whole commands at the beginning, and what follows them. */
function readCommands(text: string): { commands: string[][]; rest: string } {
  const commands: string[][] = [];
  let rest = text;
  for (;;) {
    const head = /^\*(\d+)\r\n/.exec(rest);
    if (!head) return { commands, rest };
    let at = head[0].length;
    const words: string[] = [];
    while (words.length < Number(head[1])) {
      const length = /^\$(\d+)\r\n/.exec(rest.slice(at, at + 16));
      const end = at + (length?.[0].length ?? 0) + Number(length?.[1] ?? Infinity);
      if (!length || rest.length < end + 2) return { commands, rest };
      words.push(rest.slice(at + length[0].length, end));
      at = end + 2;
    }
    commands.push(words);
    rest = rest.slice(at);
  }
}
