import { parseDocument } from 'yaml';
import { z } from 'zod';
import { CommandError } from '../../terminal/errors.ts';

/** A price in dollars a token, which YAML may have as a text. */
const dollars = z
  .union([z.number(), z.string().transform(Number)])
  .pipe(z.number().min(0))
  .optional()
  .catch(undefined);
const count = z
  .union([z.int(), z.string().transform(Number)])
  .pipe(z.int().min(1))
  .optional()
  .catch(undefined);
const costs = {
  input_cost_per_token: dollars,
  output_cost_per_token: dollars,
  cache_read_input_token_cost: dollars,
  cache_creation_input_token_cost: dollars,
};

const Config = z.object({
  model_list: z.array(
    z.object({
      model_name: z.string(),
      litellm_params: z.object({
        model: z.string(),
        api_base: z.string().optional(),
        api_key: z.string().optional(),
        ...costs,
      }),
      model_info: z
        .object({ max_output_tokens: count, max_tokens: count, max_input_tokens: count, ...costs })
        .optional(),
    }),
  ),
  router_settings: z
    .object({ model_group_alias: z.record(z.string(), z.unknown()).optional() })
    .nullish()
    .catch(undefined),
});

/** A deployment of a model, in dollars per token where prices are stated. */
export interface Deployment {
  readonly model: string;
  /** `openai`, `azure`, … */
  readonly provider: string;
  /** The model's name without its provider. */
  readonly upstreamModel: string;
  readonly apiBase: string | undefined;
  /** The variable that the key is in; undefined where the file has the key itself, or none. */
  readonly keyVariable: string | undefined;
  readonly hasOwnKey: boolean;
  readonly inputCost: number | undefined;
  readonly outputCost: number | undefined;
  readonly cacheReadCost: number | undefined;
  readonly cacheWriteCost: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly maxInputTokens: number | undefined;
}

export interface LitellmConfig {
  /** By the name that callers use. */
  readonly models: ReadonlyMap<string, readonly Deployment[]>;
  /** Other names of them. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Reads a config.yaml of LiteLLM. @throws CommandError where it is none */
export function readLitellmConfig(text: string): LitellmConfig {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw new CommandError(`the file is no YAML: ${error.message.split('\n')[0]}`);
  const read = Config.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new CommandError(
      `the file is no config.yaml of LiteLLM: ${issue?.path.join('.') || 'the file'} ${issue?.message ?? ''}`,
    );
  }
  const { model_list, router_settings } = read.data;
  const models = Map.groupBy(model_list.map(deploymentOf), ({ name }) => name);
  return {
    models: new Map([...models].map(([name, list]) => [name, list.map(({ deployment }) => deployment)])),
    aliases: new Map(
      Object.entries(router_settings?.model_group_alias ?? {}).flatMap(([alias, target]) =>
        typeof target === 'string' ? [[alias, target] as const] : [],
      ),
    ),
  };
}

function deploymentOf({
  model_name: name,
  litellm_params: params,
  model_info: info,
}: z.output<typeof Config>['model_list'][number]) {
  const [, provider = 'openai', upstreamModel = params.model] = /^([^/]+)\/(.+)$/.exec(params.model) ?? [];
  const [, keyVariable] = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(params.api_key ?? '') ?? [];
  const deployment: Deployment = {
    model: params.model,
    provider,
    upstreamModel,
    apiBase: params.api_base,
    keyVariable,
    hasOwnKey: params.api_key !== undefined && keyVariable === undefined,
    inputCost: params.input_cost_per_token ?? info?.input_cost_per_token,
    outputCost: params.output_cost_per_token ?? info?.output_cost_per_token,
    cacheReadCost: params.cache_read_input_token_cost ?? info?.cache_read_input_token_cost,
    cacheWriteCost: params.cache_creation_input_token_cost ?? info?.cache_creation_input_token_cost,
    maxOutputTokens: info?.max_output_tokens ?? info?.max_tokens,
    maxInputTokens: info?.max_input_tokens,
  };
  return { name, deployment };
}
