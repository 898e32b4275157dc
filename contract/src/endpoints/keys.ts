import { z } from 'zod';
import { id, idReference } from '../conventions/id.ts';
import { label, text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_ALLOWED_MODELS, MAX_NAME_LENGTH } from '../limits.ts';
import { instant, timestamp } from './fields.ts';

export const ENVIRONMENTS = ['production', 'development', 'testing'] as const;

// The fields that a new key and a listed key have in common.
const keyFields = {
  id: id(),
  name: z.string(),
  project_id: id(),
  key_prefix: z.string().regex(/^sk_svc_[0-9A-Za-z]{8}$/),
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

export const createKey = endpoint({
  name: 'createKey',
  section: 'keys',
  method: 'POST',
  path: '/keys',
  summary: 'Mint a gateway key. Its secret is in this reply and nowhere else.',
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
  refusals: [
    { status: 400, body: 'error', when: 'expires_at is not in the future' },
    { status: 400, body: 'error', when: 'allowed_models names a route that is unknown or inactive' },
    { status: 404, body: 'error', when: 'the project is not one of the organisation' },
    { status: 409, body: 'error', when: 'the Idempotency-Key has minted a key already' },
  ],
});

export const listKeys = endpoint({
  name: 'listKeys',
  section: 'keys',
  method: 'GET',
  path: '/keys',
  summary: 'The keys that are not revoked, newest first.',
  reply: z.strictObject({
    keys: z.array(
      z.strictObject({
        ...keyFields,
        created_at: timestamp(),
        last_used_at: timestamp().nullable(),
      }),
    ),
  }),
});

export const revokeKey = endpoint({
  name: 'revokeKey',
  section: 'keys',
  method: 'DELETE',
  path: '/keys/{key_id}',
  summary: 'Revoke a key. The gateway refuses it from the next request.',
  reply: z.strictObject({ message: z.string() }),
  records: ['api_key.revoked'],
  refusals: [
    { status: 404, body: 'error', when: 'the key is not one of the organisation, or is revoked already' },
  ],
});
