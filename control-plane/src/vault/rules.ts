import type { Secret } from '@gatehouse/contract';

// What may be shown of a provider's key, and why a provider cannot have one.

const HINT_LENGTH = 4;
const MIN_LENGTH_WITH_HINT = 12;

/** The last characters of a provider's key; null for a key so short that they would give too much of it away. */
export function keyHint(providerKey: Secret): string | null {
  const text = providerKey.reveal();
  return text.length < MIN_LENGTH_WITH_HINT ? null : text.slice(-HINT_LENGTH);
}

// Together with the rest of the sentence, the whole body stays below 1 KiB.
const ECHO_LIMIT_BYTES = 300;
const LIST_LIMIT_BYTES = 500;

/**
 * Why no key can be stored for the provider that the caller named; undefined when one can. Names that provider,
 * truncated, and the providers that take a key.
 */
export function providerIssue(
  given: string,
  providers: readonly { readonly name: string; readonly takesKey: boolean }[],
): string | undefined {
  const provider = providers.find(({ name }) => name === given);
  if (provider?.takesKey) return undefined;
  const echo = truncated(given, ECHO_LIMIT_BYTES);
  const shown = `'${echo}${echo.length < given.length ? '…' : ''}'`;
  const known = providers.filter(({ takesKey }) => takesKey).map(({ name }) => name);
  const [named, label] = provider
    ? [`The provider ${shown} takes no key`, 'Those that do']
    : [`There is no provider ${shown}`, 'Known'];
  if (known.length === 0) return `${named}, and the catalogue has none that takes a key.`;
  let remaining = LIST_LIMIT_BYTES;
  const listed = known.filter((name) => {
    remaining -= bytesInJson(name) + 2;
    return remaining >= 0;
  });
  const others = known.length - listed.length;
  return `${named}. ${label}: ${listed.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`;
}

function truncated(text: string, limitBytes: number): string {
  let remaining = limitBytes;
  let start = '';
  for (const character of text) {
    remaining -= bytesInJson(character);
    if (remaining < 0) break;
    start += character;
  }
  return start;
}

function bytesInJson(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
