import {
  catalogue as contract,
  isStorableText,
  MAX_ROUTE_ID_LENGTH,
  microPkrFromDecimal,
} from '@gatehouse/contract';
import { z } from 'zod';
import { MemberRules } from './member-rules-file.ts';

/** The built-in provider; a catalogue may route to it without declaring it. */
export const BUILT_IN_PROVIDER = 'demo';
/** The route to it, which the service adds itself. */
export const BUILT_IN_ROUTE = 'demo/echo';

/** A number as the file writes it: converting to a double first would lose digits. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const writtenNumber = z.instanceof(WrittenNumber, { error: 'must be a number' });

// Prices become micro-PKR per million tokens: whole numbers, exactly what the file says.
const amount = writtenNumber.transform(({ text }, context) => {
  const micro = microPkrFromDecimal(text);
  if (typeof micro === 'bigint') return micro;
  const expected =
    micro === 'too-large'
      ? 'at most 9007199254.740991'
      : 'a decimal number of at least 0 with at most 6 decimals';
  context.addIssue({ code: 'custom', message: `is ${text} and must be ${expected}` });
  return z.NEVER;
});

// Five percent is 50,000 millionths; four decimals of a percent are the finest step.
const percent = writtenNumber.transform(({ text }, context) => {
  const micro = microPkrFromDecimal(text);
  if (typeof micro === 'bigint' && micro <= 100_000_000n && micro % 100n === 0n) return micro / 100n;
  context.addIssue({
    code: 'custom',
    message: `is ${text} and must be from 0 to 100 with at most 4 decimals`,
  });
  return z.NEVER;
});

const text = (isValid: (value: string) => boolean, description: string) =>
  z.string().refine((value) => isStorableText(value) && isValid(value), {
    error: `must be ${description}`,
  });

// A user name, query or fragment would appear in logs, or be lost when a path is appended.
function isBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    /^https?:\/\//i.test(value) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#\s]/.test(value)
  );
}

const tokens = z.int().min(1).max(100_000_000);

export const Provider = z.strictObject({
  protocol: z.enum(['openai', 'anthropic']),
  base_url: text(
    isBaseUrl,
    'an address starting with http:// or https://, without a user name, a query or a fragment',
  ).transform((value) => value.replace(/\/+$/, '')),
  api_key_env: text(
    (value) => /^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(value),
    'the name of an environment variable, such as OPENAI_API_KEY',
  ).optional(),
  output_limit: z.enum(['max_tokens', 'max_completion_tokens', 'both']).default('max_completion_tokens'),
  deny: MemberRules.optional(),
  allow: MemberRules.default([]),
});

const Price = z.strictObject({
  input: amount,
  output: amount,
  cache_write: amount.default(0n),
  cache_read: amount.default(0n),
});

export const Route = z.strictObject({
  id: text(
    (value) => /^[\x21-\x7e]+$/.test(value) && value.length <= MAX_ROUTE_ID_LENGTH,
    `1 to ${MAX_ROUTE_ID_LENGTH} printable ASCII characters without spaces`,
  ),
  provider: z.string(),
  upstream_model: text(
    (value) => value.trim() !== '' && value.length <= MAX_ROUTE_ID_LENGTH,
    `1 to ${MAX_ROUTE_ID_LENGTH} characters`,
  ),
  endpoints: z
    .array(z.enum(contract.GATEWAY_ENDPOINTS))
    .min(1)
    .refine((values) => new Set(values).size === values.length, {
      error: 'must name each endpoint once',
      // Runs even when one of the values is invalid.
      when: ({ value }) => Array.isArray(value),
    })
    .default(['chat']),
  price_pkr_per_million: Price,
  byok_fee_percent: percent.default(0n),
  max_output_tokens: tokens,
  default_output_tokens: tokens.optional(),
  min_output_tokens: tokens.optional(),
  max_input_tokens: tokens.optional(),
  allow: MemberRules.default([]),
  timeout_ms: z.int().min(1).max(86_400_000).default(600_000),
  active: z.boolean().default(true),
});

const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const CatalogueFile = z.strictObject({
  providers: z.record(
    text((value) => PROVIDER_NAME.test(value), 'a name of lower-case letters, digits, - and _'),
    Provider,
  ),
  routes: z.array(Route),
});

export type Catalogue = z.output<typeof CatalogueFile>;
export type CatalogueRoute = Catalogue['routes'][number];

/** The member names accepted at a path of the file; undefined where the path is not a known mapping. */
export function membersAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  if (path.length === 0) return Object.keys(CatalogueFile.shape);
  if (path[0] === 'providers' && path.length === 2) return Object.keys(Provider.shape);
  if (path[0] !== 'routes') return undefined;
  if (path.length === 2) return Object.keys(Route.shape);
  return path[2] === 'price_pkr_per_million' && path.length === 3 ? Object.keys(Price.shape) : undefined;
}
