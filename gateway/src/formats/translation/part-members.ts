import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { BodyObject } from './body-object.ts';
import type {
  AssistantPart,
  Base64Source,
  CacheControl,
  DocumentPart,
  ResultPart,
  UrlSource,
} from './conversation.ts';

/** The breakpoint that a part, a tool or a body carries: chat callers write it as Anthropic's do. */
export function readCacheControl({ value }: BodyObject): { readonly cacheControl?: CacheControl } {
  const control = value['cache_control'];
  if (!isJsonObject(control) || control['type'] !== 'ephemeral') return {};
  const ttl = control['ttl'];
  return { cacheControl: ttl === '5m' || ttl === '1h' ? { ttl } : {} };
}

export function writeCacheControl(holder: { readonly cacheControl?: CacheControl }): JsonObject {
  return holder.cacheControl ? { cache_control: { type: 'ephemeral', ...holder.cacheControl } } : {};
}

/**
 * The parts of a message with the breakpoint that the message carries itself, as clients write it whose content is a text: it belongs to the
 * last part that can have one.
 */
export function withBreakpoint<P extends ResultPart | AssistantPart>(
  parts: readonly P[],
  message: BodyObject,
): readonly P[] {
  const control = readCacheControl(message);
  const last = parts.findLastIndex(({ type }) => type !== 'reasoning' && type !== 'refusal');
  return control.cacheControl
    ? parts.map((part, index) => (index === last ? { ...part, ...control } : part))
    : parts;
}

const DATA_URL = /^data:([a-z0-9.+/-]{1,128})(?:;[a-z0-9=.+-]{1,64}){0,4};base64,/i;

/** A picture or a file as OpenAI's formats write it: a URL, or its content in a `data:` URL. */
export function sourceOfUrl(url: string): UrlSource | Base64Source {
  const match = DATA_URL.exec(url);
  if (!match) return { kind: 'url', url };
  const named = (match[1] as string).toLowerCase();
  return { kind: 'base64', mediaType: mediaTypeOf(named), data: url.slice(match[0].length) };
}

export function urlOfSource(source: UrlSource | Base64Source): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/jfif', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['application/x-pdf', 'application/pdf'],
]);

/** The registered name of a media type: browsers and tools write others, which providers do not know. */
export function mediaTypeOf(name: string): string {
  return OTHER_NAMES.get(name.toLowerCase()) ?? name;
}

const TEXT = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|typescript|x-sh|sql|toml)$)/;

/**
 * The source of a document from its data URL. A text file is its text, because providers take nothing but PDFs in base64; data without the
 * head of such a URL, which some callers leave away, is a PDF too.
 */
export function documentSource(url: string): DocumentPart['source'] {
  const source = sourceOfUrl(url);
  if (source.kind === 'url') return { kind: 'base64', mediaType: 'application/pdf', data: url };
  if (!TEXT.test(source.mediaType)) return source;
  return { kind: 'text', text: Buffer.from(source.data, 'base64').toString() };
}
