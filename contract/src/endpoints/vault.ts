import { z } from 'zod';
import { isStorableText, text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_PROVIDER_KEY_LENGTH } from '../limits.ts';
import { timestamp } from './fields.ts';

// What is kept of a provider's key, for people to tell it by.
const vaultKey = () =>
  z.strictObject({
    provider: z.string(),
    key_hint: z
      .string()
      .length(4)
      .nullable()
      .meta({ description: 'The last four characters; null for a key shorter than 12.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  });

const PRINTABLE = /^[\x21-\x7e]*$/;

/** It goes into a header, so nothing that could end one or be read in two ways is accepted. */
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
  summary: 'Store the organisation’s own key for a provider, or put a new one in its place.',
  body: z.object({
    provider: text().meta({
      example: 'openai',
      description: 'A provider of the catalogue that takes a key.',
    }),
    api_key: providerKey(),
  }),
  reply: vaultKey(),
  records: ['vault_key.set'],
  errors: [
    { status: 400, body: 'error', when: 'the provider is not one of the catalogue, or takes no key' },
    { status: 503, body: 'error', when: 'the vault cannot be used right now' },
  ],
});

export const listVaultKeys = endpoint({
  name: 'listVaultKeys',
  section: 'vault',
  method: 'GET',
  path: '/vault/keys',
  summary: 'The providers that the organisation has stored a key for, by name; never the keys.',
  reply: z.strictObject({ keys: z.array(vaultKey()) }),
});

export const revokeVaultKey = endpoint({
  name: 'revokeVaultKey',
  section: 'vault',
  method: 'DELETE',
  path: '/vault/keys/{provider}',
  summary: 'Remove the stored key for a provider. The gateway’s next request goes out without it.',
  reply: z.strictObject({ message: z.string() }),
  records: ['vault_key.revoked'],
  errors: [{ status: 404, body: 'error', when: 'no key is stored for the provider' }],
});
