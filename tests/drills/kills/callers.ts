import { setTimeout as delay } from 'node:timers/promises';

// Callers of the gateway: answers in one piece, streams, and callers that leave before the end of either. What each was told is kept.

export const KINDS = ['json', 'stream', 'leaves a stream', 'leaves an answer'] as const;
export type Kind = (typeof KINDS)[number];

/** A request of a caller. */
export interface Sent {
  readonly request: number;
  readonly kind: Kind;
  /** The gateway that it was sent to. */
  readonly gateway: number;
  readonly sentAtMs: number;
  endedAtMs: number;
  /** Undefined until the head of the answer came. */
  status?: number;
  id?: string;
  /** The last byte of the answer came. */
  isWhole: boolean;
  /** The caller left. */
  hasLeft: boolean;
  /** The error that it got in place of the answer. */
  problem?: string;
}

export interface CallersOptions {
  readonly ports: readonly number[];
  readonly secrets: readonly string[];
  readonly callers: number;
  readonly random: () => number;
  /** At most this long between two requests of a caller. */
  readonly pauseMs: number;
  readonly kinds?: readonly Kind[];
  /** True if a gateway takes requests. Otherwise the caller tries another one, as a balancer does. */
  isUp(gateway: number): boolean;
}

export interface Callers {
  readonly sent: readonly Sent[];
  /** Stops and waits for what is in flight. */
  stop(): Promise<void>;
}

const LEAVES_AFTER_MS = 5;

export function startCallers(options: CallersOptions, firstNumber = 1): Callers {
  const { ports, secrets, callers, random, pauseMs, kinds = KINDS, isUp } = options;
  const sent: Sent[] = [];
  let next = firstNumber;
  let isOver = false;
  const one = async () => {
    while (!isOver) {
      const gateway = Math.floor(random() * ports.length);
      const kind = kinds[Math.floor(random() * kinds.length)] as Kind;
      const secret = secrets[Math.floor(random() * secrets.length)] as string;
      const pause = random() * pauseMs;
      if (!isUp(gateway)) {
        await delay(10);
        continue;
      }
      const request = next;
      next += 1;
      const now: Sent = {
        request,
        kind,
        gateway,
        sentAtMs: performance.now(),
        endedAtMs: 0,
        isWhole: false,
        hasLeft: false,
      };
      sent.push(now);
      await call(now, ports[gateway] as number, secret);
      now.endedAtMs = performance.now();
      await delay(now.status === 503 ? 50 : pause);
    }
  };
  const all = Promise.all(Array.from({ length: callers }, one));
  // Its errors are thrown by stop().
  all.catch(() => undefined);
  return {
    sent,
    async stop() {
      isOver = true;
      await all;
    },
  };
}

async function call(sent: Sent, port: number, secret: string): Promise<void> {
  const leaving = new AbortController();
  const isStream = sent.kind === 'stream' || sent.kind === 'leaves a stream';
  const leave = () => {
    sent.hasLeft = true;
    leaving.abort();
  };
  const timer = sent.kind === 'leaves an answer' ? setTimeout(leave, LEAVES_AFTER_MS) : undefined;
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'x-svc-meta-request': String(sent.request),
      },
      body: JSON.stringify({
        model: 'mock/model',
        max_completion_tokens: 50,
        stream: isStream,
        messages: [{ role: 'user', content: `request ${sent.request}` }],
      }),
      signal: leaving.signal,
    });
    sent.status = answer.status;
    sent.id = answer.headers.get('x-request-id') ?? '';
    const text = await read(
      answer,
      sent.kind === 'leaves a stream' && answer.status === 200 ? leave : undefined,
    );
    const hasEnd = !isStream || answer.status !== 200 || text.includes('data: [DONE]');
    sent.isWhole = hasEnd && !sent.hasLeft;
    if (answer.status !== 200 || !hasEnd) sent.problem = text.slice(0, 300);
  } catch (error) {
    // The errors of fetch for a connection that broke or was refused, and for the caller's own leaving.
    const { name } = error as Error;
    if (name !== 'TypeError' && name !== 'AbortError') throw error;
    const cause = (error as { cause?: { code?: string } }).cause;
    sent.problem = sent.hasLeft ? 'left' : `broken: ${cause?.code ?? (error as Error).message}`;
  } finally {
    clearTimeout(timer);
  }
}

/** The text of the answer; of one that is left, up to its first piece. */
async function read(answer: Response, leave: (() => void) | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    leave?.();
  }
  return text;
}
