import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ProviderFlags } from '@gatehouse/contract';
import type { Dialect } from '../errors/dialect.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import type { Redaction } from '../wire/redaction.ts';
import { maskKeys } from '../wire/text.ts';

// The headers that pass between caller and provider, in both directions: those listed here and no others. Credentials, cookies,
// forwarding headers and headers about a person are on no list. Guarded by passed-headers.test.ts.

export const MAX_VALUE_LENGTH = 2_048;
const MAX_HEADERS = 32;

interface Lists {
  /** The beginning of the protocol's header names. */
  readonly prefix: string;
  /** Name the account at the provider. Callers neither choose nor see the platform's. */
  readonly ofAccount: RegExp;
}

const LISTS: Readonly<Record<Dialect, Lists>> = {
  openai: { prefix: 'openai-', ofAccount: /organization|project/ },
  anthropic: { prefix: 'anthropic-', ofAccount: /organization|workspace/ },
};
// Never pass, even with a protocol's prefix.
const NEVER = /key|auth|token$|secret|cookie|credential|forward|user|email|account|address/;

interface Passage {
  readonly dialect: Dialect;
  /** With the organisation's own provider key, headers about the account pass. */
  readonly isByok: boolean;
}

export interface RequestPassage extends Passage {
  /** True if endpoint and surface have the same protocol; otherwise the caller's protocol headers mean nothing to the provider. */
  readonly isNative: boolean;
  readonly betaHeaders: ProviderFlags['betaHeaders'];
  readonly organizationId: string;
}

const OF_EVERY_PROTOCOL: ReadonlySet<string> = new Set(['idempotency-key', 'x-client-request-id']);

/** The caller's headers that the provider sees. */
export function headersToProvider(
  callers: IncomingHttpHeaders,
  { dialect, isByok, isNative, betaHeaders, organizationId }: RequestPassage,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(callers)) {
    const isListed = OF_EVERY_PROTOCOL.has(name) || (isNative && isOfProtocol(name, { dialect, isByok }));
    if (!isListed || !isUsable(value) || Object.keys(passed).length >= MAX_HEADERS) continue;
    if (name === 'idempotency-key') passed[name] = isByok ? value : scoped(organizationId, value);
    else if (name === BETA) passed[name] = betas(value, betaHeaders, isByok).join(',');
    else passed[name] = value;
    if (passed[name] === '') delete passed[name];
  }
  return passed;
}

// A provider compares idempotency keys within one account. On the platform's, no organisation may reach another's answers.
function scoped(organizationId: string, idempotencyKey: string): string {
  return createHash('sha256').update(`${organizationId}\0${idempotencyKey}`).digest('base64url');
}

const BETA = 'anthropic-beta';
// Values that raise the context or the price beyond the route's: `context-1m-2025-08-07`, `fast-mode-2026-02-01`.
const RAISING = /\bcontext-\d|\blong-context\b|\bfast-mode\b|\bpriority\b/i;

function betas(value: string, rule: ProviderFlags['betaHeaders'], isByok: boolean): readonly string[] {
  if (rule === 'strip') return [];
  // As it came, where nothing is to be changed.
  if (rule === 'forward' && (isByok || !RAISING.test(value))) return [value];
  return namesIn(value).flatMap((name) =>
    isWithheld(name, rule, isByok) ? [] : (renamed(name, rule) ?? []),
  );
}

/** The values of `anthropic-beta` that the platform's key does not buy; a provider's list may name them. */
export function withheldBetas(
  { [BETA]: value }: IncomingHttpHeaders,
  { isByok, isNative, betaHeaders }: Pick<RequestPassage, 'isByok' | 'isNative' | 'betaHeaders'>,
): readonly string[] {
  if (typeof value !== 'string' || isByok || !isNative || betaHeaders === 'strip') return [];
  return RAISING.test(value) ? namesIn(value).filter((name) => isWithheld(name, betaHeaders, isByok)) : [];
}

type BetaRule = Exclude<ProviderFlags['betaHeaders'], 'strip'>;

function namesIn(value: string): readonly string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function isWithheld(name: string, rule: BetaRule, isByok: boolean): boolean {
  return !isByok && RAISING.test(name) && (rule === 'forward' || !Object.hasOwn(rule, name));
}

function renamed(name: string, rule: BetaRule): string | null | undefined {
  return rule !== 'forward' && Object.hasOwn(rule, name) ? rule[name] : name;
}

const ANSWER_HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry'],
]);
// The gateway's own headers have these names.
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['request-id', 'x-upstream-request-id'],
  ['x-request-id', 'x-upstream-request-id'],
]);
const RATE_LIMIT = /^x-ratelimit-[a-z0-9-]+$/;

/** The provider's headers that the caller sees. */
export function headersToCaller(
  providers: UpstreamHeaders,
  passage: Passage,
  redaction: Redaction | undefined,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(providers)) {
    const shown = nameForCaller(name, passage);
    if (shown === undefined || !isUsable(value) || Object.keys(passed).length >= MAX_HEADERS) continue;
    const text = redaction?.text(value) ?? value;
    // Some SDKs compare it with the one in small letters.
    passed[shown] = shown === 'content-type' ? text.replace(/^[^;]+/, (type) => type.toLowerCase()) : text;
  }
  return passed;
}

function nameForCaller(name: string, passage: Passage): string | undefined {
  if (ANSWER_HEADERS.has(name) || isOfProtocol(name, passage)) return name;
  return RATE_LIMIT.test(name) ? `x-upstream-${name.slice(2)}` : RENAMED.get(name);
}

function isOfProtocol(name: string, { dialect, isByok }: Passage): boolean {
  const { prefix, ofAccount } = LISTS[dialect];
  if (!name.startsWith(prefix) || !/^[a-z0-9-]+$/.test(name)) return false;
  // Rate limits count tokens; no other header of theirs is named for one.
  if (!name.startsWith('anthropic-ratelimit-') && NEVER.test(name)) return false;
  return isByok || !ofAccount.test(name);
}

/** One line of plain characters without a gateway key. */
function isUsable(value: string | string[] | undefined): value is string {
  return (
    typeof value === 'string' &&
    value.length <= MAX_VALUE_LENGTH &&
    /^[\t\x20-\x7e]+$/.test(value) &&
    maskKeys(value) === value
  );
}
