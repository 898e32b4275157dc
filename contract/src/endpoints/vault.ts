import { z } from 'zod';
import { isStorableText, text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_PROVIDER_KEY_LENGTH } from '../limits.ts';
import { timestamp } from './fields.ts';

// What is returned about a stored provider key.
const VaultKey = z
  .strictObject({
    provider: z.string(),
    key_hint: z
      .string()
      .length(4)
      .nullable()
      .meta({ description: 'The last four characters; null for a key shorter than 12.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'VaultKey' });

const PRINTABLE = /^[\x21-\x7e]*$/;

/** The key is sent in a header, so only characters that are safe in a header are accepted. */
function providerKey() {
  return z
    .string()
    .refine((value) => isStorableText(value) && PRINTABLE.test(value.trim()), {
      error: 'Only printable ASCII is accepted, without spaces inside.',
      params: { type: 'not_a_provider_key' },
    })
    .refine((value) => value.trim() !== '', { error: 'Must not be blank.', params: { type: 'blank' } })
    .refine((value) => value.trim().length <= MAX_PROVIDER_KEY_LENGTH, {
      error: `Must have at most ${MAX_PROVIDER_KEY_LENGTH} characters.`,
      params: { type: 'too_long' },
    })
    .transform((value) => value.trim())
    .meta({
      minLength: 1,
      maxLength: MAX_PROVIDER_KEY_LENGTH,
      description: 'The provider’s own key. Printable ASCII; trimmed.',
    });
}

export const setVaultKey = endpoint({
  name: 'setVaultKey',
  section: 'vault',
  method: 'POST',
  path: '/vault/keys',
  summary: 'Store or replace the organisation’s own key for a provider.',
  body: z.object({
    provider: text().meta({
      example: 'openai',
      description: 'A provider in the catalogue that takes a key.',
    }),
    api_key: providerKey(),
  }),
  reply: VaultKey,
  records: ['vault_key.set'],
  errors: [
    { status: 400, body: 'error', when: 'the provider is not in the catalogue, or takes no key' },
    { status: 503, body: 'error', when: 'the vault is unavailable' },
  ],
});

export const listVaultKeys = endpoint({
  name: 'listVaultKeys',
  section: 'vault',
  method: 'GET',
  path: '/vault/keys',
  summary: 'The stored provider keys, by provider name. The keys themselves are never returned.',
  reply: z.strictObject({ keys: z.array(VaultKey) }),
});

export const revokeVaultKey = endpoint({
  name: 'revokeVaultKey',
  section: 'vault',
  method: 'DELETE',
  path: '/vault/keys/{provider}',
  summary: 'Remove the stored key for a provider. The gateway stops using it from the next request.',
  reply: z.strictObject({ message: z.string() }),
  records: ['vault_key.revoked'],
  errors: [{ status: 404, body: 'error', when: 'no key is stored for the provider' }],
});
