import type { GatewayEndpoint } from '@gatehouse/contract';
import { type Model, modelOf } from './model-document.ts';
import type { NameRow } from './queries.ts';

/** `GET /v1/model/info`, in the form of LiteLLM. Without prices: its members are in USD, and this gateway charges PKR. */
export function modelInfoDocument(rows: readonly NameRow[]) {
  return { data: rows.flatMap((row) => modelOf(row) ?? []).map(modelInfo) };
}

function modelInfo({ row, endpoints }: Model) {
  const { name, routeId, provider, maxInputTokens, maxOutputTokens } = row;
  return {
    model_name: name,
    litellm_params: { model: routeId },
    model_info: {
      id: name,
      key: routeId,
      litellm_provider: provider,
      mode: modeOf(endpoints),
      max_tokens: Number(maxOutputTokens),
      max_output_tokens: Number(maxOutputTokens),
      ...(maxInputTokens !== null && { max_input_tokens: Number(maxInputTokens) }),
    },
  };
}

function modeOf(endpoints: readonly GatewayEndpoint[]): string {
  if (endpoints.some((endpoint) => /^(chat|responses|messages)$/.test(endpoint))) return 'chat';
  return endpoints.includes('completions') ? 'completion' : 'embedding';
}
