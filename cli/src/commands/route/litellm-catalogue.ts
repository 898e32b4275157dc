import { Document, isMap, parseDocument, type YAMLMap } from 'yaml';
import type { Deployment, LitellmConfig } from './litellm-config.ts';
import { inPkr, pkrPrices, publicPrice } from './public-prices.ts';

/** A catalogue as text, and what a person should look at. */
export interface MadeCatalogue {
  readonly text: string;
  readonly routes: number;
  /** Routes without a known price, which are inactive. */
  readonly inactive: readonly string[];
  /** The models that have no route, and why. */
  readonly leftOut: readonly string[];
}

// By what LiteLLM calls them, the providers of the shipped catalogue.
const SHIPPED: Readonly<Record<string, string>> = {
  openai: 'openai',
  text_completion_openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
  mistral: 'mistral',
  deepseek: 'deepseek',
  groq: 'groq',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  xai: 'xai',
  moonshot: 'moonshot',
  openrouter: 'openrouter',
};

// These speak OpenAI's protocol at an address that the file names.
const OPENAI_LIKE = new Set([
  'openai',
  'hosted_vllm',
  'vllm',
  'lm_studio',
  'litellm_proxy',
  'ollama',
  'ollama_chat',
  'custom_openai',
]);

const BUILT_IN = 'demo';
const USUAL_OUTPUT_TOKENS = 32_000;
const PER_MILLION = 1_000_000;

interface FoundProvider {
  readonly name: string;
  readonly entry: unknown;
}

/** Makes a catalogue of a LiteLLM configuration. `shipped` is the text of the catalogue that comes with Gatehouse. */
export function catalogueOf(config: LitellmConfig, usdPkr: number, shipped: string): MadeCatalogue {
  const known = parseDocument(shipped).get('providers') as YAMLMap;
  const document = new Document({ providers: {}, routes: [] as object[] });
  const providers = document.get('providers') as YAMLMap;
  const entries = new Map<string, string>();
  // Deployments at one host may have a key or a path each, and are then providers of their own.
  const add = ({ name, entry }: FoundProvider): string => {
    const text = JSON.stringify(entry);
    for (let nth = 1; ; nth += 1) {
      const own = nth === 1 ? name : `${name}-${nth}`;
      if (own === BUILT_IN || (entries.get(own) ?? text) !== text) continue;
      if (!entries.has(own)) providers.set(own, entry);
      entries.set(own, text);
      return own;
    }
  };
  const routes: unknown[] = [];
  const inactive: string[] = [];
  const leftOut: string[] = [];
  for (const [name, deployments] of config.models) {
    if (!/^[\x21-\x7e]{1,200}$/.test(name) || name.includes('*')) {
      leftOut.push(`${name}: a route has a name of its own, and no pattern`);
      continue;
    }
    const added = deployments.flatMap((deployment) => {
      const provider = providerOf(deployment, known);
      if (typeof provider !== 'string') return [{ deployment, provider: add(provider) }];
      leftOut.push(`${name} (${deployment.model}): ${provider}`);
      return [];
    });
    // The same deployment may stand there twice, to get twice the share.
    const found = added.filter(
      ({ provider, deployment }, nth) =>
        nth ===
        added.findIndex(
          (one) => one.provider === provider && one.deployment.upstreamModel === deployment.upstreamModel,
        ),
    );
    const [first] = found;
    if (!first) continue;
    const priced = found.map((one) => ({ ...one, price: priceOf(one.deployment, usdPkr) }));
    const isPriced = priced.every(({ price }) => price !== undefined);
    if (!isPriced) inactive.push(name);
    const aliases = [...config.aliases].flatMap(([alias, target]) => (target === name ? [alias] : []));
    const targets = priced.map(({ deployment, provider, price }) => ({
      provider,
      upstream_model: deployment.upstreamModel,
      price_pkr_per_million: price ?? { input: 0, output: 0 },
    }));
    const route = document.createNode({
      id: name,
      ...(aliases.length > 0 && { aliases }),
      ...(targets.length === 1 ? targets[0] : { targets }),
      max_output_tokens: first.deployment.maxOutputTokens ?? USUAL_OUTPUT_TOKENS,
      ...(first.deployment.maxInputTokens !== undefined && {
        max_input_tokens: first.deployment.maxInputTokens,
      }),
      ...(!isPriced && { active: false }),
    });
    const remarks = [
      ...(isPriced ? [] : [' Its price is not known: state it, then make the route active.']),
      ...(first.deployment.maxOutputTokens === undefined
        ? [' The file does not state max_output_tokens.']
        : []),
      ...(found.some(({ deployment }) => deployment.hasOwnKey)
        ? [' Its key stands in the file: put it into the variable of its provider.']
        : []),
    ];
    if (remarks.length > 0) route.commentBefore = remarks.join('\n');
    routes.push(route);
  }
  const list = document.createNode([]) as { items: unknown[] };
  list.items = routes;
  document.set('routes', list);
  document.commentBefore = [
    ` Made from a configuration of LiteLLM, at ${usdPkr} PKR a dollar, without a margin. Review every price.`,
    ...(leftOut.length > 0
      ? [' Left out:', ...leftOut.map((what) => ` - ${what.replaceAll(/[\r\n]+/g, ' ')}`)]
      : []),
  ].join('\n');
  if (isMap(providers)) providers.flow = false;
  return { text: document.toString({ lineWidth: 120 }), routes: routes.length, inactive, leftOut };
}

/** The provider of a deployment, or why there is none. */
function providerOf(
  { provider, apiBase, keyVariable, hasOwnKey }: Deployment,
  known: YAMLMap,
): FoundProvider | string {
  const shipped = SHIPPED[provider];
  if (shipped !== undefined && apiBase === undefined && known.has(shipped)) {
    const entry = (known.get(shipped) as YAMLMap).clone() as YAMLMap;
    if (keyVariable !== undefined) entry.set('api_key_env', keyVariable);
    return { name: shipped, entry };
  }
  const base = apiBase === undefined ? undefined : URL.parse(apiBase);
  if (!base || !/^https?:$/.test(base.protocol))
    return apiBase === undefined
      ? `no route without an api_base for ${provider}`
      : 'its api_base is no address';
  const path = base.pathname.replace(/\/+$/, '');
  const key =
    keyVariable ??
    (hasOwnKey ? `${slug(base.hostname).toUpperCase().replaceAll('-', '_')}_API_KEY` : undefined);
  const keyed = key === undefined ? {} : { api_key_env: key };
  if (provider === 'azure')
    return {
      name: slug(base.hostname),
      entry: { protocol: 'openai', base_url: `${base.origin}/openai/v1`, auth: 'api-key', ...keyed },
    };
  if (provider === 'anthropic')
    return {
      name: slug(base.hostname),
      entry: { protocol: 'anthropic', base_url: `${base.origin}${path || '/v1'}`, ...keyed },
    };
  if (OPENAI_LIKE.has(provider)) {
    const isOllama = provider.startsWith('ollama') && path === '';
    return {
      name: slug(base.host),
      entry: {
        protocol: 'openai',
        base_url: `${base.origin}${isOllama ? '/v1' : path}`,
        output_limit: 'max_tokens',
        ...keyed,
      },
    };
  }
  return `its provider ${provider} has no key of the kind that Gatehouse sends, or a protocol of its own`;
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60);
}

/** Prices in PKR per million tokens: what the file states, else what the provider publishes. */
function priceOf(deployment: Deployment, usdPkr: number): Readonly<Record<string, unknown>> | undefined {
  const { inputCost, outputCost, cacheReadCost, cacheWriteCost, provider, upstreamModel, apiBase } =
    deployment;
  const perMillion = (dollars: number) => inPkr(dollars * PER_MILLION, usdPkr);
  if (inputCost !== undefined && outputCost !== undefined)
    return {
      input: perMillion(inputCost),
      output: perMillion(outputCost),
      ...(cacheWriteCost !== undefined && { cache_write: perMillion(cacheWriteCost) }),
      ...(cacheReadCost !== undefined && { cache_read: perMillion(cacheReadCost) }),
    };
  // At an address of one's own, a public price would be a guess.
  const found = apiBase === undefined ? publicPrice(provider, upstreamModel) : undefined;
  if (!found) return undefined;
  const tiers = found.tiers.map((tier) => ({
    above_prompt_tokens: tier.above_prompt_tokens,
    ...pkrPrices(tier, usdPkr),
  }));
  return { ...pkrPrices(found, usdPkr), ...(tiers.length > 0 && { tiers }) };
}
