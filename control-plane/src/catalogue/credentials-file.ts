import { z } from 'zod';
import { text } from './file-text.ts';

// The file format of a provider's credentials: one, as `api_key_env`, or a pool, as `credentials`.

const MAX_CREDENTIALS = 32;
const MAX_WEIGHT = 1_000;
/** The name of a provider's one credential. */
export const ONLY_CREDENTIAL = 'default';
/** Keys that organisations store go by this name in request logs. */
const OWN_KEY = 'own';

/** A share of the requests, beside those of the others. */
export const weight = z.int().min(1).max(MAX_WEIGHT).default(1);

export const apiKeyEnv = text(
  (value) => /^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(value),
  'the name of an environment variable, such as OPENAI_API_KEY',
);

export const CredentialMembers = z.strictObject({
  name: text(
    (value) => /^[a-z0-9][a-z0-9._-]{0,62}$/.test(value) && value !== OWN_KEY,
    `1 to 63 lower-case letters, digits, ., - and _, and not ${OWN_KEY}`,
  ),
  api_key_env: apiKeyEnv,
  weight,
});

export type CatalogueCredential = z.output<typeof CredentialMembers>;

export const Credentials = z
  .array(CredentialMembers)
  .min(1)
  .max(MAX_CREDENTIALS, { error: `must have at most ${MAX_CREDENTIALS} credentials` });

interface Stated {
  readonly api_key_env?: string | undefined;
  readonly credentials?: readonly CatalogueCredential[] | undefined;
}

/** Empty where the provider takes no key. */
export function credentialsOf({ api_key_env, credentials }: Stated): readonly CatalogueCredential[] {
  if (credentials) return credentials;
  return api_key_env === undefined ? [] : [{ name: ONLY_CREDENTIAL, api_key_env, weight: 1 }];
}

/** Credentials of one provider that contradict each other. Invalid members are ignored here. */
export function credentialIssues(
  provider: Readonly<Record<string, unknown>>,
): readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const { api_key_env: variable, credentials } = provider;
  const found: { path: PropertyKey[]; message: string }[] = [];
  if (credentials === undefined) return found;
  if (variable !== undefined)
    found.push({
      path: ['api_key_env'],
      message: 'cannot be stated beside credentials, each of which names its own',
    });
  const names = new Set<unknown>();
  const ownerOf = new Map<unknown, unknown>();
  for (const [index, credential] of (Array.isArray(credentials) ? credentials : []).entries()) {
    const { name, api_key_env: env } = (credential ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name === 'string' && names.has(name))
      found.push({ path: ['credentials', index, 'name'], message: `the credential ${name} is named twice` });
    // Two credentials with one key share its limits: neither can stand in for the other.
    if (typeof env === 'string' && ownerOf.has(env))
      found.push({
        path: ['credentials', index, 'api_key_env'],
        message: `the variable ${env} is that of the credential ${ownerOf.get(env)} already`,
      });
    names.add(name);
    if (!ownerOf.has(env)) ownerOf.set(env, name);
  }
  return found;
}
