import { GATEWAY_ENDPOINTS, type GatewayEndpoint } from '@gatehouse/contract';
import { chooseSurface } from '../formats/choose-surface.ts';
import { codexModel } from './codex-model.ts';
import { type NameRow, surfacesOf } from './queries.ts';

// One document for all clients: OpenAI's and Anthropic's SDKs read `data`, each its own members, Claude Code `id` and
// `display_name`, Codex `models`. They ignore the other members.

/** A model as the documents show it: a name, and what its route can do. */
export interface Model {
  readonly row: NameRow;
  /** Endpoints of the route that its provider can serve, natively or translated. */
  readonly endpoints: readonly GatewayEndpoint[];
}

/** The model behind a name; undefined if no endpoint can be served. */
export function modelOf(row: NameRow): Model | undefined {
  const surfaces = surfacesOf(row);
  const endpoints = GATEWAY_ENDPOINTS.filter(
    (endpoint) => row.endpoints.includes(endpoint) && chooseSurface(endpoint, surfaces) !== undefined,
  );
  return endpoints.length === 0 ? undefined : { row, endpoints };
}

/** `GET /v1/models`. The cursors are of all names of the page, so that paging goes on past names that cannot be asked. */
export function modelsDocument(rows: readonly NameRow[], hasMore: boolean) {
  const models = rows.flatMap((row) => modelOf(row) ?? []);
  return {
    object: 'list',
    data: models.map(modelDocument),
    has_more: hasMore,
    first_id: rows[0]?.name ?? null,
    last_id: rows.at(-1)?.name ?? null,
    models: models.filter(({ endpoints }) => endpoints.includes('responses')).map(codexModel),
  };
}

/** `GET /v1/models/{id}`, and an entry of the list. */
export function modelDocument({ row, endpoints }: Model) {
  const { name, routeId, provider, maxInputTokens, maxOutputTokens, updatedAtSeconds } = row;
  const context = maxInputTokens === null ? null : Number(maxInputTokens);
  return {
    id: name,
    // OpenAI's.
    object: 'model',
    created: Number(updatedAtSeconds),
    // Of several targets, the first one's.
    owned_by: provider,
    // Anthropic's.
    type: 'model',
    display_name: name,
    created_at: new Date(Number(updatedAtSeconds) * 1000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: context,
    max_tokens: Number(maxOutputTokens),
    // Others read this one.
    context_length: context,
    endpoints,
    // The id of its route, which lists of allowed models name; another than `id` for an alias.
    route: routeId,
  };
}
