import { z } from 'zod';
import { id, idReference } from '../conventions/id.ts';
import { limit, offset } from '../conventions/paging.ts';
import { label, text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_ALLOWED_MODELS, MAX_IDEMPOTENCY_KEY_LENGTH, MAX_NAME_LENGTH } from '../limits.ts';
import { creator, instant, pkr, pkrAmount, timestamp, wholeNumber } from './fields.ts';

export const ENVIRONMENTS = ['production', 'development', 'testing'] as const;

// The fields that a new key and a listed key have in common.
const keyFields = {
  id: id(),
  name: z.string(),
  project_id: id(),
  key_prefix: z.string().meta({
    description:
      '`sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash.',
    example: 'sk_svc_4fT9aQ2z',
  }),
  rate_limit_rpm: z.int().min(1),
  expires_at: timestamp().nullable(),
  credit_limit_cents: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: 'Lifetime cap in micro-PKR; null: none.' }),
  allowed_models: z.array(z.string()).min(1).nullable(),
  environment: z.enum(ENVIRONMENTS),
};

// A key of the list.
const listedKey = { ...keyFields, created_at: timestamp(), last_used_at: timestamp().nullable() };

/** Identifies a creation, so that a retry does not create a second key. */
export const idempotencyKey = z
  .string()
  .refine((value) => /^[\x20-\x7e]+$/.test(value) && value.length <= MAX_IDEMPOTENCY_KEY_LENGTH, {
    error: `Must have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} characters of printable ASCII.`,
    params: { type: 'not_an_idempotency_key' },
  })
  .optional()
  .meta({
    minLength: 1,
    maxLength: MAX_IDEMPOTENCY_KEY_LENGTH,
    description:
      'Any printable ASCII text. A second request of the organisation with the same value within 24 hours creates no key and returns 409.',
    example: 'deploy-2026-11-20/backend',
  });

/**
 * The cap under its name on the other endpoint. If it were ignored like other unknown fields, the key would lack the cap
 * that the caller meant to set.
 */
function notAccepted(instead: string, unit: string) {
  return z
    .unknown()
    .optional()
    .refine((value) => value === undefined, {
      error: `Is not accepted here; send ${instead}, ${unit}.`,
      params: { type: 'not_accepted' },
    })
    .meta({ not: {}, description: `Always rejected: use \`${instead}\` here.` });
}

export const createKey = endpoint({
  name: 'createKey',
  section: 'keys',
  method: 'POST',
  path: '/keys',
  summary: 'Mint a gateway key. Only this reply contains its secret.',
  headers: z.object({ 'idempotency-key': idempotencyKey }),
  body: z.object({
    project_id: idReference(),
    name: label(MAX_NAME_LENGTH).meta({ example: 'backend' }),
    expires_at: instant().nullish().meta({ format: 'date-time' }),
    credit_limit_cents: z
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .nullish()
      .meta({ description: 'Lifetime cap in micro-PKR (1 PKR = 1,000,000).' }),
    allowed_models: z.array(text()).min(1).max(MAX_ALLOWED_MODELS).nullish(),
    environment: z.enum(ENVIRONMENTS).default('production'),
    credit_limit_pkr: notAccepted('credit_limit_cents', 'in micro-PKR (1 PKR = 1,000,000)'),
  }),
  status: 201,
  reply: z.strictObject({
    ...keyFields,
    enforcement_status: z.strictObject({
      expires_at: z.string(),
      credit_limit_cents: z.string(),
      allowed_models: z.string(),
    }),
    api_key: z.string().regex(/^sk_svc_[0-9A-Za-z]{32}$/),
  }),
  records: ['api_key.created'],
  errors: [
    { status: 400, body: 'error', when: 'expires_at is not in the future' },
    { status: 400, body: 'error', when: 'allowed_models names a route that is unknown or inactive' },
    { status: 404, body: 'error', when: 'the project does not belong to the organisation' },
    {
      status: 409,
      body: 'error',
      when: 'the Idempotency-Key minted a key within the last 24 hours; names its prefix, never the secret',
    },
    {
      status: 409,
      body: 'error',
      when: 'the organisation has as many keys as it may have; names the figure. Revoked keys do not count',
    },
  ],
});

export const listKeys = endpoint({
  name: 'listKeys',
  section: 'keys',
  method: 'GET',
  path: '/keys',
  summary: 'The active keys, newest first. Revoked keys are not listed.',
  reply: z.strictObject({
    keys: z.array(z.strictObject(listedKey).meta({ id: 'Key' })),
  }),
});

/** The longest that a secret goes on to be accepted after a rotation, and the usual. */
const MAX_GRACE_SECONDS = 604_800;
const DEFAULT_GRACE_SECONDS = 86_400;

export const getKey = endpoint({
  name: 'getKey',
  section: 'keys',
  method: 'GET',
  path: '/keys/{key_id}',
  summary:
    'One active key, with the member who minted it and the secret that it had before, while that is accepted.',
  reply: z.strictObject({
    ...listedKey,
    created_by: creator().meta({ description: 'Null for a key that no member minted.' }),
    previous_key_prefix: keyFields.key_prefix.nullable(),
    previous_valid_until: timestamp()
      .nullable()
      .meta({ description: 'Until then the secret from before the last rotation is accepted too.' }),
    previous_last_used_at: timestamp().nullable().optional().meta({
      description:
        'The time at which that secret was used last since the rotation, to ten seconds; null if it was not. Left out where no such secret is accepted.',
    }),
  }),
  errors: [
    { status: 404, body: 'error', when: 'the key does not belong to the organisation, or is revoked' },
  ],
});

export const rotateKey = endpoint({
  name: 'rotateKey',
  section: 'keys',
  method: 'POST',
  path: '/keys/{key_id}/rotate',
  summary:
    'Give a key a new secret, which only this reply contains. The one before is accepted until its grace ends; the one before that ends at once.',
  headers: z.object({ 'idempotency-key': idempotencyKey }),
  body: z.object({
    grace_seconds: wholeNumber().min(0).max(MAX_GRACE_SECONDS).default(DEFAULT_GRACE_SECONDS).meta({
      type: 'integer',
      description: 'How long the secret that is replaced goes on to be accepted; 0: not at all.',
    }),
  }),
  reply: z.strictObject({
    id: keyFields.id,
    key_prefix: keyFields.key_prefix,
    api_key: z.string().regex(/^sk_svc_[0-9A-Za-z]{32}$/),
    previous_key_prefix: keyFields.key_prefix,
    previous_valid_until: timestamp(),
  }),
  records: ['api_key.rotated'],
  errors: [
    { status: 404, body: 'error', when: 'the key does not belong to the organisation, or is revoked' },
    {
      status: 409,
      body: 'error',
      when: 'the Idempotency-Key made a secret within the last 24 hours; names the prefix of its key, never the secret',
    },
  ],
});

export const updateKey = endpoint({
  name: 'updateKey',
  section: 'keys',
  method: 'PATCH',
  path: '/keys/{key_id}',
  summary:
    'Replace the rate limit, credit limit and expiry of a key. A credit limit or expiry that is left out is removed. Nothing else of a key can be changed.',
  body: z.object({
    rate_limit_rpm: wholeNumber().min(1).meta({ type: 'integer', description: 'Requests per minute.' }),
    credit_limit_pkr: pkrAmount({
      description: 'Lifetime cap in PKR, with at most 6 decimals; 0, null or absent: none.',
    }),
    expires_at: wholeNumber()
      .nullish()
      .meta({ description: 'Unix time in seconds; 0, null or absent: never.', example: 1924992000 }),
    credit_limit_cents: notAccepted('credit_limit_pkr', 'in PKR'),
  }),
  reply: z.strictObject({
    id: keyFields.id,
    key_prefix: keyFields.key_prefix,
    rate_limit_rpm: keyFields.rate_limit_rpm,
    expires_at: keyFields.expires_at,
    credit_limit_cents: keyFields.credit_limit_cents,
  }),
  records: ['api_key.updated'],
  errors: [
    { status: 400, body: 'error', when: 'rate_limit_rpm is above the platform ceiling; names it' },
    { status: 400, body: 'error', when: 'expires_at is not in the future, or is after the year 9999' },
    { status: 400, body: 'error', when: 'the limit is below what the key has spent; names the amount' },
    {
      status: 400,
      body: 'error',
      when: 'the limits of all keys together would exceed the organisation’s budget; names both',
    },
    { status: 404, body: 'error', when: 'the key does not belong to the organisation, or is revoked' },
  ],
});

export const revokeKey = endpoint({
  name: 'revokeKey',
  section: 'keys',
  method: 'DELETE',
  path: '/keys/{key_id}',
  summary: 'Revoke a key. The gateway rejects it from the next request.',
  reply: z.strictObject({ message: z.string() }),
  records: ['api_key.revoked'],
  errors: [
    {
      status: 404,
      body: 'error',
      when: 'the key does not belong to the organisation, or is already revoked',
    },
  ],
});

export const getBudget = endpoint({
  name: 'getBudget',
  section: 'keys',
  method: 'GET',
  path: '/budget',
  summary:
    "The organisation's deposits, spend and holds, and the same of each active key, newest first. All figures are of one moment. The active keys of all pages and revoked_keys add up to the organisation.",
  query: z.object({ limit: limit(), offset: offset() }),
  reply: z.strictObject({
    deposited_pkr: pkr('Deposits, minus withdrawals.'),
    spent_pkr: pkr('The cost of finished requests, settled or not.'),
    held_pkr: pkr('The amount that requests in flight hold.'),
    available_pkr: pkr(
      'deposited_pkr - spent_pkr - held_pkr. Negative if providers billed more than was held.',
    ),
    key_limits_pkr: pkr('The sum of the limits of the active keys. A key without a limit adds nothing.'),
    headroom_pkr: pkr(
      'By how much the limits of the active keys can still grow: deposited_pkr - key_limits_pkr, at least 0.',
    ),
    revoked_keys: z
      .strictObject({
        spent_pkr: z.number(),
        held_pkr: pkr('Held by requests that were in flight when their key was revoked.'),
      })
      .meta({ description: 'All revoked keys together.' }),
    total: z.int().meta({ description: 'Active keys.' }),
    limit: z.int(),
    offset: z.int(),
    keys: z.array(
      z
        .strictObject({
          id: id(),
          name: z.string(),
          key_prefix: z.string(),
          project: z.strictObject({ id: id(), name: z.string() }),
          unlimited: z.boolean(),
          credit_limit_pkr: z.number().nullable().meta({ description: 'Null for a key without a limit.' }),
          spent_pkr: z.number(),
          held_pkr: z.number(),
        })
        .meta({ id: 'KeyBudget' }),
    ),
  }),
});
