import { unavailable } from '@gatehouse/contract';
import type { CryptoKey, createLocalJWKSet, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import type { Logger } from 'pino';
import { type Discovered, discoveryUrl, issuerNames, readDiscovery } from './discovery.ts';
import { readBounded } from './read-bounded.ts';

// A cache of the issuer's discovery document and signing keys. It makes no request before the first token. Both are cached,
// so a sign-in rarely waits for the issuer. Two things cause an early request, and neither can be abused to cause many:
//
// - an unknown key. The issuer may have started to sign with a new one, or a caller invents key names: the keys are read
//   again, but not within the cool-down after the last unknown key;
// - a failure. For a short time no request is made, and sign-ins that need one get a 503.
//
// Sign-ins that arrive during a request wait for its result.

/** How long the keys are cached. A key that the issuer has withdrawn is not accepted after that. */
const KEYS_LIVE_MS = 10 * 60_000;
const DOCUMENT_LIVES_MS = 24 * 60 * 60_000;
const COOL_DOWN_MS = 30_000;
const HOLD_MS = 5_000;
const TIMEOUT_MS = 5_000;
const REACHED_MS = 60_000;

export interface SigningKey {
  readonly key: CryptoKey;
  /** The issuer names that a token signed by the key may have. */
  readonly issuers: readonly string[];
}

export interface OpenIdIssuer {
  /** The key that the header names, or undefined. Throws the 503 while a request to the issuer is needed and fails. */
  findKey(header: JWSHeaderParameters): Promise<SigningKey | undefined>;
  /** The facts of its discovery document, however long ago it was read. Throws the same 503. */
  findDocument(): Promise<Discovered>;
  /** The same, from an issuer that has answered within the last minute. */
  reach(): Promise<Discovered>;
}

export interface IssuerDependencies {
  /** Its address, which is also its name. */
  readonly issuer: string;
  /** The words for it in errors: `Google`. */
  readonly called: string;
  /** The way to it. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly log: Logger;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
  /** How long the requests of one refresh may take together. */
  readonly timeoutMs?: number;
}

interface Known {
  readonly document: Discovered & { readonly readAtMs: number };
  readonly keys: ReturnType<typeof createLocalJWKSet>;
  readonly readAtMs: number;
}

export function createOpenIdIssuer({
  issuer,
  called,
  fetch,
  log,
  monotonicMs,
  timeoutMs = TIMEOUT_MS,
}: IssuerDependencies): OpenIdIssuer {
  let known: Known | undefined;
  let asking: Promise<Known> | undefined;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let askedForUnknownAtMs = Number.NEGATIVE_INFINITY;

  const isOlder = ({ readAtMs }: { readonly readAtMs: number }, ms: number) => monotonicMs() - readAtMs >= ms;

  const ask = async (): Promise<Known> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const document =
        known && !isOlder(known.document, DOCUMENT_LIVES_MS)
          ? known.document
          : { ...(await discover(fetch, issuer, signal)), readAtMs: monotonicMs() };
      const published = (await fetchJson(fetch, document.keysUrl, signal)) as JSONWebKeySet;
      const { createLocalJWKSet } = await import('jose');
      const keys = createLocalJWKSet(published);
      known = { document, keys, readAtMs: monotonicMs() };
      return known;
    } catch (error) {
      log.warn({ event: 'auth.issuer_unavailable', err: error, issuer }, 'OpenID issuer unavailable');
      heldUntilMs = monotonicMs() + HOLD_MS;
      // The keys may have moved, so the next request starts with discovery. Cached keys stay valid for their time.
      if (known) known = { ...known, document: { ...known.document, readAtMs: Number.NEGATIVE_INFINITY } };
      throw unavailableFor(called, HOLD_MS);
    }
  };

  /** The cache, refreshed first if it is this old. */
  const notOlderThan = async (ms: number): Promise<Known> => {
    if (known && !isOlder(known, ms)) return known;
    const holdMs = heldUntilMs - monotonicMs();
    if (holdMs > 0) throw unavailableFor(called, holdMs);
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };

  return {
    async findKey(header) {
      let current = await notOlderThan(KEYS_LIVE_MS);
      let key = await keyOf(current, header);
      if (!key && monotonicMs() - askedForUnknownAtMs >= COOL_DOWN_MS) {
        current = await notOlderThan(0);
        askedForUnknownAtMs = monotonicMs();
        key = await keyOf(current, header);
      }
      return key && { key, issuers: issuerNames(current.document.issuer) };
    },
    async findDocument() {
      return (known ?? (await notOlderThan(KEYS_LIVE_MS))).document;
    },
    async reach() {
      return (await notOlderThan(REACHED_MS)).document;
    },
  };
}

function unavailableFor(called: string, holdMs: number) {
  return unavailable(
    `${called} cannot be asked about the sign-in right now. Try again in a moment.`,
    Math.max(1, Math.ceil(holdMs / 1000)),
  );
}

// An unusable key, or an ambiguous name, counts as unknown.
async function keyOf({ keys }: Known, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  return keys(header).catch(() => undefined);
}

async function discover(fetch: IssuerDependencies['fetch'], issuer: string, signal: AbortSignal) {
  const found = readDiscovery(await fetchJson(fetch, discoveryUrl(issuer), signal), issuer);
  if ('issue' in found) throw new Error(`the issuer cannot be trusted: ${found.issue}`);
  return found;
}

/** Reads JSON from exactly this address: redirects and answers over the size limit fail. */
async function fetchJson(
  fetch: IssuerDependencies['fetch'],
  url: string,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(url, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/json', 'user-agent': 'gatehouse' },
  });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  return JSON.parse((await readBounded(response, url)).toString('utf8'));
}
