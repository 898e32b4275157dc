import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { BodyObject } from './body-object.ts';
import type {
  AssistantPart,
  Base64Source,
  CacheControl,
  DocumentPart,
  ImagePart,
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

/** The end user of a body in one of OpenAI's formats: it has two members for him, other formats one. */
export function readUser(body: BodyObject): string | undefined {
  const [user, safe] = [body.optionalText('user'), body.optionalText('safety_identifier')];
  if (user !== undefined && safe !== undefined && user !== safe) body.lose('user', 'user');
  return safe ?? user;
}

/** The head of such a URL. Clients leave the media type away, and write the name of the file into it. */
const DATA_URL = /^data:([a-z0-9.+/-]{0,128})(?:;[^;,]{1,256}){0,4}?;base64,/i;

/** A picture's source as OpenAI's formats write it: chat an object with the URL, responses and Mistral's callers the URL alone. */
export function imageSource(part: BodyObject): ImagePart['source'] {
  const { image_url: url } = part.value;
  return sourceOfUrl(isJsonObject(url) ? part.object('image_url').text('url') : part.text('image_url'));
}

/** A picture or a file as OpenAI's formats write it: a URL, or its content in a `data:` URL. */
export function sourceOfUrl(url: string): UrlSource | Base64Source {
  const match = DATA_URL.exec(url);
  if (!match) return { kind: 'url', url };
  const data = url.slice(match[0].length);
  return { kind: 'base64', mediaType: mediaTypeOf(match[1] as string, data), data };
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

/** The first bytes of pictures and of a PDF, in base64. */
const SIGNATURES: readonly (readonly [start: string, mediaType: string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
];

/** Names that are no better than the first bytes: none, that of any data, and those of pictures, which come from the name of a file. */
const DOUBTFUL = /^(?:$|(?:application|binary)\/octet-stream$|image\/)/;

/**
 * The registered name of the media type of data in base64: browsers and tools write others, which providers do not know. Anthropic refuses a
 * picture whose bytes are of another type than its name says.
 */
export function mediaTypeOf(name: string, data: string): string {
  const named = name.toLowerCase();
  const signed = DOUBTFUL.test(named) ? SIGNATURES.find(([start]) => data.startsWith(start)) : undefined;
  return OTHER_NAMES.get(named) ?? signed?.[1] ?? named;
}

const TEXT =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|x-yaml|x-ndjson|jsonl|javascript|x-javascript|typescript|x-sh|sql|toml|csv)$)/;
/** A data URL whose text is written out. */
const PLAIN_TEXT = /^data:(?:text\/[a-z0-9.+-]{1,64})?(?:;(?!base64,)[a-z0-9=.+-]{1,64}){0,4},/i;

/**
 * The source of a document from its data URL. A text file is its text, because providers take nothing but PDFs in base64; data without the
 * head of such a URL, which some callers leave away, is a PDF too. OpenRouter's callers give the address of a file.
 */
export function documentSource(url: string): DocumentPart['source'] {
  const written = PLAIN_TEXT.exec(url);
  if (written) return { kind: 'text', text: unescaped(url.slice(written[0].length)) };
  const source = sourceOfUrl(url);
  if (/^https?:/i.test(url)) return source;
  if (source.kind === 'url') return { kind: 'base64', mediaType: 'application/pdf', data: url };
  if (!TEXT.test(source.mediaType)) return source;
  return { kind: 'text', text: Buffer.from(source.data, 'base64').toString() };
}

/** The text as it is where its percent signs are no code. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
