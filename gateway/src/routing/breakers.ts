import type { Surface } from '@gatehouse/contract';
import { Breaker } from './breaker.ts';
import { ByOrganization } from './by-organization.ts';
import type { Change, Opening } from './open-state.ts';
import type { Failure } from './retry.ts';
import { type Observation, SharedBreaker } from './shared-breaker.ts';

/** The subject of a breaker: a model and a surface of a provider, called with one credential. */
export interface UpstreamName {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly surface: Surface;
  /** The credential's name; `own` for the organisation's own. */
  readonly credential: string;
  /** Whose own credential it is, and which of its versions; null for the platform's. */
  readonly owner: string | null;
}

/** An upstream as an organisation's requests use it. */
export interface UsedUpstream extends UpstreamName {
  readonly organizationId: string;
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
  /** For whom; null for all organisations. */
  readonly organizationId: string | null;
  /** Undefined where it works again. */
  readonly opening: Opening | undefined;
}

/** An upstream of the platform that is not closed for all organisations, or not for some. */
export interface ListedUpstream {
  readonly name: UpstreamName;
  readonly forAll: Opening | undefined;
  /** The one that lasts longest of the organisations' own. */
  readonly forSome: { readonly opening: Opening; readonly organizations: number } | undefined;
}

export interface BreakersOptions {
  /** On the monotonic clock, as all times here. */
  readonly nowMs: () => number;
  readonly onChange?: (change: UpstreamChange) => void;
  readonly maxUpstreams?: number;
}

/** The number for all organisations together, and for one; and as many for all organisations. */
const MAX_UPSTREAMS = 10_000;
const MAX_OF_ORGANIZATION = 100;
// Looked at for one that can be forgotten, before the oldest is.
const MAX_LOOKED_AT = 16;

interface Entry {
  readonly name: UpstreamName;
  readonly breaker: SharedBreaker;
}

/**
 * The breakers of all upstreams. One that works has none, so memory is only taken by those that failed lately. An upstream
 * of the platform has one for each organisation that met failures, and one for all of them together; an organisation's own
 * credential only has the organisation's.
 */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #max: number;
  readonly #own: ByOrganization<Breaker>;
  readonly #shared = new Map<string, Entry>();
  readonly #waiting = new Set<() => void>();

  constructor(options: BreakersOptions) {
    this.#options = options;
    this.#max = options.maxUpstreams ?? MAX_UPSTREAMS;
    this.#own = new ByOrganization({
      max: this.#max,
      maxOfOne: MAX_OF_ORGANIZATION,
      isForgettable: (breaker) => breaker.isForgettable(options.nowMs()),
    });
  }

  /** How many breakers there are. */
  get size(): number {
    return this.#own.size + this.#shared.size;
  }

  /** Why it is not used, where it is not. */
  openingOf(name: UsedUpstream): Opening | undefined {
    const { own, shared } = this.#find(name);
    const [ownOpening, sharedOpening] = [own?.opening, shared?.opening];
    if (!ownOpening || !sharedOpening) return ownOpening ?? sharedOpening;
    if (ownOpening.isStated !== sharedOpening.isStated)
      return ownOpening.isStated ? ownOpening : sharedOpening;
    return ownOpening.untilMs >= sharedOpening.untilMs ? ownOpening : sharedOpening;
  }

  /** When it may be used, as far as time alone decides; infinite while another request tries it out. */
  readyAtMs(name: UsedUpstream): number {
    const { own, shared } = this.#find(name);
    return Math.max(own?.readyAtMs() ?? 0, shared?.readyAtMs(name.organizationId) ?? 0);
  }

  /** Undefined where it may not be used now. */
  take(name: UsedUpstream): Use | undefined {
    const { own, shared } = this.#find(name);
    if (!own && !shared) return this.#use(name, false, false);
    const { organizationId } = name;
    const nowMs = this.#options.nowMs();
    // Neither is taken unless both can be.
    if ((own?.readyAtMs() ?? 0) > nowMs || (shared?.readyAtMs(organizationId) ?? 0) > nowMs) return undefined;
    return this.#use(name, own?.take(nowMs) === 'probe', shared?.take(organizationId, nowMs) === 'probe');
  }

  /** Uses it whatever its state is: for want of another. */
  takeAnyway(name: UsedUpstream): Use {
    return this.take(name) ?? this.#use(name, false, false);
  }

  /** The platform's upstreams that are not closed for everyone. Those of organisations' own keys are not for operators. */
  list(): ListedUpstream[] {
    return [...this.#shared.values()].flatMap(({ name, breaker }) => {
      const { opening: forAll, ofSome: forSome } = breaker;
      return forAll || forSome ? [{ name, forAll, forSome }] : [];
    });
  }

  /** Calls back whenever an upstream may have become usable by something else than time. Returns what stops that. */
  watch(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  #find(name: UsedUpstream) {
    const { organizationId, owner } = name;
    const hasShared = owner === null && this.#shared.size > 0;
    const hasOwn = this.#own.size > 0 && this.#own.has(organizationId);
    if (!hasOwn && !hasShared) return NOTHING;
    const key = keyOf(name);
    return {
      own: hasOwn ? this.#own.find(organizationId, key) : undefined,
      shared: hasShared ? this.#shared.get(key)?.breaker : undefined,
    };
  }

  #use(name: UsedUpstream, isOwnProbe: boolean, isSharedProbe: boolean): Use {
    const sentMs = this.#options.nowMs();
    const isProbe = isOwnProbe || isSharedProbe;
    let isOpen = true;
    const once = (outcome: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      outcome();
      if (!isProbe) return;
      const { own, shared } = this.#find(name);
      if (isOwnProbe) own?.endProbe();
      if (isSharedProbe) shared?.endProbe(name.organizationId);
      this.#wake();
    };
    return {
      succeed: () => once(() => this.#succeed(name, sentMs)),
      fail: (failure) => once(() => this.#fail(name, failure, sentMs, isProbe)),
      release: () => once(() => {}),
    };
  }

  #succeed(name: UsedUpstream, sentMs: number): void {
    const { own, shared } = this.#find(name);
    if (!own && !shared) return;
    const { organizationId } = name;
    const nowMs = this.#options.nowMs();
    const ownChange = own?.succeed(sentMs, nowMs);
    if (own?.isForgettable(nowMs)) this.#own.delete(organizationId, keyOf(name));
    const sharedChange = shared?.succeed({ organizationId, opening: own?.opening, sentMs, nowMs });
    if (shared?.isForgettable(nowMs)) this.#shared.delete(keyOf(name));
    this.#tell(ownChange, name, organizationId, undefined);
    this.#tell(sharedChange, name, null, undefined);
  }

  #fail(name: UsedUpstream, failure: Failure, sentMs: number, isProbe: boolean): void {
    const { organizationId } = name;
    const nowMs = this.#options.nowMs();
    const key = keyOf(name);
    const own = this.#findOrAddOwn(organizationId, key);
    const ownChange = own.fail(failure, sentMs, nowMs, isProbe);
    if (name.owner !== null) {
      this.#tell(ownChange, name, organizationId, own.opening);
      return;
    }
    const observation: Observation = { organizationId, opening: own.opening, sentMs, nowMs };
    const shared = this.#findOrAddShared(name, key, nowMs);
    const sharedChange = shared.fail(failure, observation);
    this.#tell(ownChange, name, organizationId, own.opening);
    this.#tell(sharedChange, name, null, shared.opening);
  }

  #tell(
    change: Change,
    name: UpstreamName,
    organizationId: string | null,
    opening: Opening | undefined,
  ): void {
    if (change === undefined) return;
    this.#options.onChange?.({ name, organizationId, opening });
    if (!opening) this.#wake();
  }

  #wake(): void {
    for (const callback of [...this.#waiting]) callback();
  }

  #findOrAddOwn(organizationId: string, key: string): Breaker {
    const known = this.#own.find(organizationId, key);
    if (known) return known;
    const breaker = new Breaker();
    this.#own.add(organizationId, key, breaker);
    return breaker;
  }

  #findOrAddShared(name: UpstreamName, key: string, nowMs: number): SharedBreaker {
    const known = this.#shared.get(key);
    if (known) return known.breaker;
    if (this.#shared.size >= this.#max) this.#makeRoom(nowMs);
    const breaker = new SharedBreaker();
    this.#shared.set(key, { name, breaker });
    return breaker;
  }

  #makeRoom(nowMs: number): void {
    let dropped: string | undefined;
    let looked = 0;
    for (const [key, { breaker }] of this.#shared) {
      dropped ??= key;
      looked += 1;
      const isForgettable = breaker.isForgettable(nowMs);
      if (isForgettable) dropped = key;
      if (isForgettable || looked >= MAX_LOOKED_AT) break;
    }
    if (dropped !== undefined) this.#shared.delete(dropped);
  }
}

const NOTHING: { readonly own: undefined; readonly shared: undefined } = {
  own: undefined,
  shared: undefined,
};

function keyOf({ provider, upstreamModel, surface, credential, owner }: UpstreamName): string {
  return JSON.stringify([provider, upstreamModel, surface, credential, owner]);
}
