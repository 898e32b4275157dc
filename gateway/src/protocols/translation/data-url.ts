import type { Base64Source, UrlSource } from './conversation.ts';

const DATA_URL = /^data:([a-z0-9.+/-]{1,128})(?:;[a-z0-9=.+-]{1,64}){0,4};base64,/i;

/** A picture or a file as OpenAI's formats write it: a URL, or its content in a `data:` URL. */
export function sourceOfUrl(url: string): UrlSource | Base64Source {
  const match = DATA_URL.exec(url);
  if (!match) return { kind: 'url', url };
  return { kind: 'base64', mediaType: (match[1] as string).toLowerCase(), data: url.slice(match[0].length) };
}

export function urlOfSource(source: UrlSource | Base64Source): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
