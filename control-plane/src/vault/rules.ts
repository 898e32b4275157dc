// What may be shown of a key that somebody stores, and what is said of a provider that nobody knows.

const HINT_CHARACTERS = 4;
const SHORTEST_WITH_HINT = 12;

/** The last characters of a provider's key; null where they would be too much of it. */
export function keyHint(providerKey: string): string | null {
  return providerKey.length < SHORTEST_WITH_HINT ? null : providerKey.slice(-HINT_CHARACTERS);
}

// With the words around them the whole body stays below 1 KiB.
const ECHO_LIMIT_BYTES = 300;
const LIST_LIMIT_BYTES = 500;

/** Names what was sent, as far as it fits, and the providers that there are. */
export function unknownProvider(given: string, known: readonly string[]): string {
  const echo = beginning(given, ECHO_LIMIT_BYTES);
  const named = `There is no provider '${echo}${echo.length < given.length ? '…' : ''}'`;
  if (known.length === 0) return `${named}, and the catalogue has none.`;
  let room = LIST_LIMIT_BYTES;
  const listed = known.filter((name) => {
    room -= bytesInJson(name) + 2;
    return room >= 0;
  });
  const others = known.length - listed.length;
  return `${named}. Known: ${listed.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`;
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
