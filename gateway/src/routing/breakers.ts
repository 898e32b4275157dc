import { Breaker, type Opening } from './breaker.ts';
import type { Failure } from './retry.ts';

/** What a breaker is for: a model of a provider, called with one credential. */
export interface UpstreamName {
  readonly provider: string;
  readonly upstreamModel: string;
  /** The credential's name; `own` for the organisation's own. */
  readonly credential: string;
  /** Whose own credential it is, and which of its versions; null for the platform's. */
  readonly owner: string | null;
}

/** One use of an upstream. Its first outcome counts. */
export interface Use {
  /** Content came, or an error that is the request's own. */
  succeed(): void;
  fail(failure: Failure): void;
  /** Nothing was learned. */
  release(): void;
}

export interface UpstreamChange {
  readonly name: UpstreamName;
  /** Undefined where it works again. */
  readonly opening: Opening | undefined;
}

export interface BreakersOptions {
  /** On the monotonic clock, as all times here. */
  readonly nowMs: () => number;
  readonly onChange?: (change: UpstreamChange) => void;
  readonly mostUpstreams?: number;
}

const MOST_UPSTREAMS = 10_000;
// Looked at for one that can be forgotten, before the oldest is.
const LOOKED_AT = 16;

interface Entry {
  readonly name: UpstreamName;
  readonly breaker: Breaker;
}

/**
 * The breakers of all upstreams. One that works has none, so memory is only taken by those that failed lately, for 10,000 of
 * them at most.
 */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting = new Set<() => void>();

  constructor(options: BreakersOptions) {
    this.#options = options;
    this.#most = options.mostUpstreams ?? MOST_UPSTREAMS;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Why it is not used, where it is not. */
  openingOf(name: UpstreamName): Opening | undefined {
    return this.#find(name)?.breaker.opening;
  }

  /** When it may be used, as far as time alone decides; infinite while another request tries it out. */
  readyAtMs(name: UpstreamName): number {
    return this.#find(name)?.breaker.readyAtMs() ?? 0;
  }

  /** Undefined where it may not be used now. */
  take(name: UpstreamName): Use | undefined {
    const entry = this.#find(name);
    const taken = entry ? entry.breaker.take(this.#options.nowMs()) : 'closed';
    return taken && this.#use(name, taken === 'probe');
  }

  /** Uses it whatever its state is: for want of another. */
  takeAnyway(name: UpstreamName): Use {
    return this.take(name) ?? this.#use(name, false);
  }

  /** Those that are not closed. */
  list(): { readonly name: UpstreamName; readonly opening: Opening }[] {
    return [...this.#entries.values()].flatMap(({ name, breaker: { opening } }) =>
      opening ? [{ name, opening }] : [],
    );
  }

  /** Calls back whenever an upstream may have become usable by something else than time. Returns what stops that. */
  watch(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  #find(name: UpstreamName): Entry | undefined {
    return this.#entries.size === 0 ? undefined : this.#entries.get(keyOf(name));
  }

  #use(name: UpstreamName, isProbe: boolean): Use {
    const sentMs = this.#options.nowMs();
    let isOpen = true;
    const once = (outcome: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      outcome();
      if (!isProbe) return;
      this.#find(name)?.breaker.endProbe();
      for (const callback of [...this.#waiting]) callback();
    };
    return {
      succeed: () => once(() => this.#succeed(name, sentMs)),
      fail: (failure) => once(() => this.#fail(name, failure, sentMs)),
      release: () => once(() => {}),
    };
  }

  #succeed(name: UpstreamName, sentMs: number): void {
    const entry = this.#find(name);
    if (!entry) return;
    const nowMs = this.#options.nowMs();
    const change = entry.breaker.succeed(sentMs, nowMs);
    if (entry.breaker.isForgettable(nowMs)) this.#entries.delete(keyOf(name));
    if (change === 'closed') this.#tell(name, undefined);
  }

  #fail(name: UpstreamName, failure: Failure, sentMs: number): void {
    const nowMs = this.#options.nowMs();
    const { breaker } = this.#entryOf(name, nowMs);
    if (breaker.fail(failure, sentMs, nowMs) === 'opened') this.#tell(name, breaker.opening);
  }

  #tell(name: UpstreamName, opening: Opening | undefined): void {
    this.#options.onChange?.({ name, opening });
    if (!opening) for (const callback of [...this.#waiting]) callback();
  }

  #entryOf(name: UpstreamName, nowMs: number): Entry {
    const key = keyOf(name);
    const known = this.#entries.get(key);
    if (known) return known;
    if (this.#entries.size >= this.#most) this.#makeRoom(nowMs);
    const entry = { name, breaker: new Breaker() };
    this.#entries.set(key, entry);
    return entry;
  }

  #makeRoom(nowMs: number): void {
    let oldest: string | undefined;
    let looked = 0;
    for (const [key, { breaker }] of this.#entries) {
      oldest ??= key;
      looked += 1;
      if (breaker.isForgettable(nowMs)) {
        this.#entries.delete(key);
        return;
      }
      if (looked >= LOOKED_AT) break;
    }
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

function keyOf({ provider, upstreamModel, credential, owner }: UpstreamName): string {
  return JSON.stringify([provider, upstreamModel, credential, owner]);
}
