/** The headers of a provider's answer. Names are in lower case. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

export function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\s*(;|$)/i.test(type);
}

export function isJson(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^application\/json\s*(;|$)/i.test(type);
}

export const MAX_NAMES = 32;
const MAX_NAME_LENGTH = 64;
const MAX_BYTES = 1_024;

/** The value of a header that names what was left out of a request. Callers choose the names, so it is bounded. */
export function namesInHeader(names: readonly string[]): string {
  let value = '';
  for (const name of names.slice(0, MAX_NAMES)) {
    const next = value === '' ? inHeader(name) : `${value}, ${inHeader(name)}`;
    if (next.length > MAX_BYTES) return `${value}, ...`;
    value = next;
  }
  return names.length > MAX_NAMES ? `${value}, ...` : value;
}

/** In printable ASCII, without what separates names. */
function inHeader(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?');
}
