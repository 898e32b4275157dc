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
