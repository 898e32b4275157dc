import type { z } from 'zod';
import type { PROVIDER_FLAG_MEMBERS } from './provider-flags-file.ts';

type Flags = Partial<z.output<z.ZodObject<typeof PROVIDER_FLAG_MEMBERS>>>;

// Without these a request is none, or its cost has no limit.
const NEEDED: Readonly<Record<string, string>> = {
  model: 'names the model',
  messages: 'is the prompt',
  prompt: 'is the prompt',
  input: 'is the prompt',
  stream: 'decides the form of the answer',
  max_tokens: 'limits the cost; output_limit says which member the provider reads',
  max_completion_tokens: 'limits the cost; output_limit says which member the provider reads',
  max_output_tokens: 'limits the cost',
};

/** Flags of one provider that contradict each other or the gateway's own work. */
export function flagIssues(
  flags: Flags,
  hasKey: boolean,
): readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const found: { path: PropertyKey[]; message: string }[] = [];
  const { auth } = flags;
  if (auth === 'none' && hasKey)
    found.push({
      path: ['auth'],
      message: 'is none, and the provider has a key, which would never be sent',
    });
  if (flags.credential !== undefined && hasKey)
    found.push({
      path: ['credential'],
      message: 'is one of a cloud, and cannot be stated beside api_key_env or credentials',
    });
  if (flags.credential !== undefined && auth !== undefined)
    found.push({ path: ['auth'], message: 'is decided by credential' });
  else if (auth !== undefined && auth !== 'none' && !hasKey)
    found.push({
      path: ['auth'],
      message: 'needs api_key_env, which names the variable with the key, or credentials',
    });
  flags.drop?.forEach((member, index) => {
    if (Object.hasOwn(NEEDED, member))
      found.push({
        path: ['drop', index],
        message: `is ${member}, which ${NEEDED[member]} and is always sent`,
      });
  });
  for (const member of Object.keys(flags.add ?? {})) {
    if (Object.hasOwn(NEEDED, member))
      found.push({
        path: ['add', member],
        message: `${member} ${NEEDED[member]}; the gateway writes it itself`,
      });
    if (flags.drop?.includes(member))
      found.push({ path: ['add', member], message: `${member} is dropped too` });
  }
  const credential = typeof auth === 'object' ? auth.header.toLowerCase() : auth;
  const seen = new Set<string>();
  for (const header of Object.keys(flags.headers ?? {})) {
    const name = header.toLowerCase();
    if (name === credential)
      found.push({ path: ['headers', header], message: `${header} holds the credential, by auth` });
    if (seen.has(name))
      found.push({ path: ['headers', header], message: `the header ${header} is named twice` });
    seen.add(name);
  }
  return found;
}
