import { isStorableText, MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { invalidRequest } from '../errors/gateway-error.ts';
import type { NamePage } from './queries.ts';

/** The most models that one answer has, and what it has where the caller names no limit. */
export const MAX_MODELS = 1_000;

/** The page that the query asks for, as Anthropic's clients write it. Other parameters are ignored. Throws 400. */
export function readPage(url: string): NamePage {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));
  return {
    limit: readLimit(query.get('limit')),
    after: readCursor(query, 'after_id'),
    before: readCursor(query, 'before_id'),
  };
}

function readLimit(text: string | null): number {
  if (text === null || text === '') return MAX_MODELS;
  const limit = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1) throw invalidRequest(`limit must be a whole number from 1 to ${MAX_MODELS}.`, 'limit');
  return Math.min(limit, MAX_MODELS);
}

function readCursor(query: URLSearchParams, name: string): string | undefined {
  const id = query.get(name);
  if (id === null || id === '') return undefined;
  if (id.length > MAX_ROUTE_ID_LENGTH || !isStorableText(id))
    throw invalidRequest(`${name} must be the id of a model.`, name);
  return id;
}
