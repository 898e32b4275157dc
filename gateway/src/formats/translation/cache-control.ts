import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { BodyObject } from './body-object.ts';
import type { AssistantPart, CacheControl, ResultPart } from './conversation.ts';

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
