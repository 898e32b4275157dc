import { unavailable } from '@gatehouse/contract';
import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet, type JWSHeaderParameters } from 'jose';
import type { Logger } from 'pino';
import { discoveryUrl, issuerNames, readDiscovery } from './google-rules.ts';

// The issuer of the tokens, as far as we know it: what it says of itself, and the keys that it signs with. Nothing
// is asked before the first token comes. What was learnt is kept for a while, so that a sign-in seldom waits for
// anybody. Two things bring us to ask early, and neither may be used to make us ask often:
//
// - a key that we do not know. The issuer may have begun to sign with a new one, or somebody makes up names of keys:
//   the keys are read again, but not within the cool-down after the last time that this was the reason;
// - a failure. For a short hold nobody asks again, and whoever would have to is told to come back.
//
// Callers that come while somebody asks wait for that answer.

/** How long the keys are relied on. One that the issuer has withdrawn signs nobody in after that. */
const KEYS_LIVE_MS = 10 * 60_000;
const DOCUMENT_LIVES_MS = 24 * 60 * 60_000;
const COOL_DOWN_MS = 30_000;
const HOLD_MS = 5_000;
const TIMEOUT_MS = 5_000;
const ANSWER_LIMIT_BYTES = 512 * 1024;

export interface SigningKey {
  readonly key: CryptoKey;
  /** What a token that the key has signed may call its issuer. */
  readonly issuers: readonly string[];
}

export interface GoogleIssuer {
  /** The key that the header names, or undefined. Throws the 503 while the issuer would have to be asked and cannot be. */
  findKey(header: JWSHeaderParameters): Promise<SigningKey | undefined>;
}

export interface GoogleIssuerDependencies {
  /** Its address, which is its name too. */
  readonly issuer: string;
  readonly log: Logger;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonicMs: () => number;
  /** How long the issuer may take for all that is asked of it at once. */
  readonly timeoutMs?: number;
}

interface Known {
  readonly document: { readonly issuer: string; readonly keysUrl: string; readonly readAtMs: number };
  readonly keys: ReturnType<typeof createLocalJWKSet>;
  readonly readAtMs: number;
}

export function createGoogleIssuer({
  issuer,
  log,
  monotonicMs,
  timeoutMs = TIMEOUT_MS,
}: GoogleIssuerDependencies): GoogleIssuer {
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
          : { ...(await discover(issuer, signal)), readAtMs: monotonicMs() };
      const keys = createLocalJWKSet((await fetchJson(document.keysUrl, signal)) as JSONWebKeySet);
      known = { document, keys, readAtMs: monotonicMs() };
      return known;
    } catch (error) {
      log.warn({ err: error, issuer }, 'the issuer of Google sign-ins cannot be used');
      heldUntilMs = monotonicMs() + HOLD_MS;
      // The keys may have moved: next time from the beginning. Those that are known go on to serve their time.
      if (known) known = { ...known, document: { ...known.document, readAtMs: Number.NEGATIVE_INFINITY } };
      throw away(HOLD_MS);
    }
  };

  /** What is known, asked for again if it is as old as this. */
  const notOlderThan = async (ms: number): Promise<Known> => {
    if (known && !isOlder(known, ms)) return known;
    const holdMs = heldUntilMs - monotonicMs();
    if (holdMs > 0) throw away(holdMs);
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
  };
}

function away(holdMs: number) {
  return unavailable(
    'Google cannot be asked about the sign-in right now. Try again in a moment.',
    Math.max(1, Math.ceil(holdMs / 1000)),
  );
}

// A key that cannot be used, or whose name two have, is as good as none.
async function keyOf({ keys }: Known, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  return keys(header).catch(() => undefined);
}

async function discover(issuer: string, signal: AbortSignal) {
  const found = readDiscovery(await fetchJson(discoveryUrl(issuer), signal), issuer);
  if ('issue' in found) throw new Error(`the issuer cannot be relied on: ${found.issue}`);
  return found;
}

/** Reads JSON from exactly this address: an answer from elsewhere, or without an end, is none. */
async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/json', 'user-agent': 'gatehouse' },
  });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.byteLength;
    if (length > ANSWER_LIMIT_BYTES) throw new Error(`${url} answered with more than can be meant`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
