// What may be shown of a key that somebody stores, and what is said of a provider that no key can be stored for.

const HINT_CHARACTERS = 4;
const SHORTEST_WITH_HINT = 12;

/** The last characters of a provider's key; null where they would be too much of it. */
export function keyHint(providerKey: string): string | null {
  return providerKey.length < SHORTEST_WITH_HINT ? null : providerKey.slice(-HINT_CHARACTERS);
}

// With the words around them the whole body stays below 1 KiB.
const ECHO_LIMIT_BYTES = 300;
const LIST_LIMIT_BYTES = 500;

/**
 * Why no key can be stored for what was sent as the provider; undefined where one can. Names it as far as it fits, and
 * the providers that take a key.
 */
export function providerFault(
  given: string,
  providers: readonly { readonly name: string; readonly takesKey: boolean }[],
): string | undefined {
  const provider = providers.find(({ name }) => name === given);
  if (provider?.takesKey) return undefined;
  const echo = beginning(given, ECHO_LIMIT_BYTES);
  const shown = `'${echo}${echo.length < given.length ? '…' : ''}'`;
  const known = providers.filter(({ takesKey }) => takesKey).map(({ name }) => name);
  const [named, label] = provider
    ? [`The provider ${shown} takes no key`, 'Those that do']
    : [`There is no provider ${shown}`, 'Known'];
  if (known.length === 0) return `${named}, and the catalogue has none that takes a key.`;
  let room = LIST_LIMIT_BYTES;
  const listed = known.filter((name) => {
    room -= bytesInJson(name) + 2;
    return room >= 0;
  });
  const others = known.length - listed.length;
  return `${named}. ${label}: ${listed.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`;
}

function beginning(text: string, limitBytes: number): string {
  let room = limitBytes;
  let start = '';
  for (const character of text) {
    room -= bytesInJson(character);
    if (room < 0) break;
    start += character;
  }
  return start;
}

function bytesInJson(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
