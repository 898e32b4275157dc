import type { Timers } from '@gatehouse/concurrency';
import { findEvictionPolicy } from './eviction-policy.ts';
import {
  clusterNodes,
  createRedisClient,
  destroyClient,
  type RedisAddress,
  type RedisNode,
  redisError,
} from './redis-client.ts';
import { readGreeting } from './redis-failure.ts';
import type { CountedDecision, CounterConnection } from './shared-rates.ts';

export interface Presence {
  /** How many gateway processes have been there in the last 30 seconds. */
  readonly gateways: number;
  readonly timeUs: number;
}

export interface RedisConnectionOptions {
  readonly address: RedisAddress;
  /** By which it is reached; the first, unless Redis is a cluster. */
  readonly nodes: readonly RedisNode[];
  /** The id of this process, among those that share the rates. */
  readonly gatewayId: string;
  /** True if Redis has been found to be one node of a cluster. */
  readonly isCluster: boolean;
  readonly timers: Timers;
  /** After this without an answer the connection ends. A question waits for twice as long at most. */
  readonly timeoutMs: number;
  /** Called once, when questions can be asked. */
  readonly onOpen: (presence: Presence) => void;
  /** Called when Redis says that it would forget keys while its memory is full, with the name of its setting. */
  readonly onEvictionPolicy: (policy: string) => void;
  /** Called with the nodes of a cluster, once it is open and with each presence. */
  readonly onNodes: (nodes: readonly RedisNode[]) => void;
  /** Called once. What was not answered is undecided by then. */
  readonly onClose: (error: Error, isCluster: boolean) => void;
}

export interface RedisConnection extends CounterConnection {
  /** Says that this process is there. Undefined when the connection ends. */
  present(): Promise<Presence | undefined>;
}

interface Question {
  readonly kind: 'take' | 'peek';
  readonly limitRpm: number;
  readonly resolve: (decision: CountedDecision | undefined) => void;
}

const MAX_WAITING = 65_536;
const REMEMBERED_AT_ONCE = 2_000;
const NUMBERS_OF_ANSWER = 5;
const PER_MS = 1_000;
const WINDOW_MS = 60_000;
const GATEWAYS_KEY = 'gatehouse:{gateways}';
// How a node of a cluster answers to a key of another.
const UNEXPLAINED = /^(EPIPE|ECONNRESET) |closed the connection|Connection is closed/;
const OF_A_CLUSTER = /^(MOVED|ASK|CROSSSLOT|CLUSTERDOWN)\b/;

/** One connection. What a turn of the event loop asks of one key is one call of the script, and all calls leave together. */
export function connectToRedis(options: RedisConnectionOptions): RedisConnection {
  const { address, nodes, gatewayId, timers, timeoutMs, onOpen, onEvictionPolicy, onNodes, onClose } =
    options;
  const client = createRedisClient(address, nodes, options.isCluster, timeoutMs);
  const calls = new Set<object>();
  const waiting = new Set<Question>();
  let asked = new Map<string, Question[]>();
  let isOpen = false;
  let isOver = false;
  let cancelTimeout: (() => void) | undefined;

  const finish = () => {
    isOver = true;
    cancelTimeout?.();
    destroyClient(client);
  };
  const undecided = () => {
    for (const { resolve } of waiting) resolve(undefined);
    waiting.clear();
  };
  const end = (error: Error & { readonly code?: string }, isCluster = options.isCluster) => {
    if (isOver) return;
    finish();
    undecided();
    const [node] = nodes;
    // Once it is open, gateways must know at once. Before that, Redis may have said why.
    if (isOpen || !node || !UNEXPLAINED.test(`${error.code} ${error.message}`))
      return onClose(error, isCluster);
    void readGreeting(node, address, timeoutMs).then((said) =>
      onClose(said === undefined ? error : new Error(said), isCluster),
    );
  };
  client.on('error', (error: Error) => end(redisError(error)));
  client.on('end', () => end(new Error('Redis closed the connection')));

  // The oldest call must be answered by then. Its answer may have come while this process was busy, so that is read first.
  const expectAnswer = () => {
    const [oldest] = calls;
    cancelTimeout = timers.after(timeoutMs, () => {
      setImmediate(() => {
        cancelTimeout = undefined;
        if (isOver || calls.size === 0) return;
        if (oldest && calls.has(oldest)) end(new Error(`Redis did not answer within ${timeoutMs} ms`));
        else expectAnswer();
      });
    });
  };
  /** Undefined when the connection ended, as it does after any error. */
  const call = async <T>(
    work: () => Promise<T>,
    isExpected: (answer: T) => boolean = () => true,
  ): Promise<T | undefined> => {
    if (isOver) return undefined;
    const one = {};
    calls.add(one);
    if (!cancelTimeout) expectAnswer();
    try {
      const answer = await work();
      if (!isExpected(answer)) throw new Error('the answer is not one of Redis');
      return answer;
    } catch (error) {
      const { message } = error as Error;
      end(redisError(error as Error), options.isCluster || OF_A_CLUSTER.test(message));
      return undefined;
    } finally {
      calls.delete(one);
    }
  };

  const present = async (): Promise<Presence | undefined> => {
    const numbers = await call(() => client.gatehousePresent(GATEWAYS_KEY, gatewayId), areNumbers(2));
    if (numbers && !isOver) onNodes(clusterNodes(client));
    return numbers && { gateways: numbers[0] as number, timeUs: numbers[1] as number };
  };
  const askOf = async (keyId: string, questions: readonly Question[]): Promise<void> => {
    const pairs = questions.flatMap(({ kind, limitRpm }) => [kind, limitRpm]);
    const numbers = await call(
      () => client.gatehouseCount(nameOf(keyId), ...pairs),
      areNumbers(questions.length * NUMBERS_OF_ANSWER),
    );
    questions.forEach((question, index) => {
      const from = index * NUMBERS_OF_ANSWER;
      question.resolve(
        numbers && readAnswer(numbers.slice(from, from + NUMBERS_OF_ANSWER), question.limitRpm),
      );
      waiting.delete(question);
    });
  };
  const flush = () => {
    const keys = asked;
    asked = new Map();
    for (const [keyId, questions] of keys) void askOf(keyId, questions);
  };

  const open = async (): Promise<void> => {
    await call(() => client.connect());
    // A server that does not tell is taken for a single one, until it answers like one of a cluster.
    const info = options.isCluster ? '' : await call(() => client.info('cluster').catch(() => ''));
    if (info?.includes('cluster_enabled:1')) return end(new Error('Redis is a cluster'), true);
    const presence = await present();
    if (!presence || isOver) return;
    isOpen = true;
    onOpen(presence);
    // Nothing waits for this, and a refusal is no failure.
    const policy = await findEvictionPolicy(client);
    if (policy !== undefined && !isOver) onEvictionPolicy(policy);
  };
  void open();

  return {
    ask(kind, keyId, limitRpm) {
      if (!isOpen || isOver || waiting.size >= MAX_WAITING) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<CountedDecision | undefined>();
      const question = { kind, limitRpm, resolve };
      waiting.add(question);
      if (asked.size === 0) setImmediate(flush);
      const questions = asked.get(keyId);
      if (questions) questions.push(question);
      else asked.set(keyId, [question]);
      return promise;
    },
    remember(keyId, requests) {
      for (let from = 0; from < requests.length; from += REMEMBERED_AT_ONCE) {
        const pairs = requests
          .slice(from, from + REMEMBERED_AT_ONCE)
          .flatMap(({ timeUs, ageMs }) => [timeUs, Math.floor(ageMs * PER_MS)]);
        void call(() => client.gatehouseRemember(nameOf(keyId), ...pairs));
      }
    },
    present,
    close() {
      if (isOver) return;
      // The others' shares grow sooner when this one says that it leaves. Nothing depends on it.
      if (isOpen) void client.zrem(GATEWAYS_KEY, gatewayId).catch(() => undefined);
      setImmediate(finish);
      isOver = true;
      undecided();
    },
  };
}

// What is in braces decides where a cluster keeps it.
function nameOf(keyId: string): string {
  return `gatehouse:rate:{${keyId}}`;
}

function areNumbers(count: number): (answer: unknown) => boolean {
  return (answer) => Array.isArray(answer) && answer.length === count && answer.every(Number.isSafeInteger);
}

function readAnswer(numbers: readonly number[], limit: number): CountedDecision {
  const [isAllowed, size, resetUs, retryUs, countedUs] = numbers as [number, number, number, number, number];
  return {
    isAllowed: isAllowed === 1,
    limit,
    remaining: Math.max(0, limit - size),
    // Requests of the same microsecond are counted one after the other, so the last may be a little ahead.
    resetMs: Math.min(WINDOW_MS, resetUs / PER_MS),
    retryAfterMs: Math.min(WINDOW_MS, retryUs / PER_MS),
    countedUs,
  };
}
