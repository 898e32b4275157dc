import { isJsonObject, type JsonObject } from '../json.ts';
import type { CacheControl } from './conversation.ts';

/** The breakpoint that a part, a tool or a body carries: chat callers write it as Anthropic's do. */
export function readCacheControl(holder: JsonObject): { readonly cacheControl?: CacheControl } {
  const control = holder['cache_control'];
  if (!isJsonObject(control) || control['type'] !== 'ephemeral') return {};
  const ttl = control['ttl'];
  return { cacheControl: ttl === '5m' || ttl === '1h' ? { ttl } : {} };
}

export function writeCacheControl(holder: { readonly cacheControl?: CacheControl }): JsonObject {
  return holder.cacheControl ? { cache_control: { type: 'ephemeral', ...holder.cacheControl } } : {};
}
