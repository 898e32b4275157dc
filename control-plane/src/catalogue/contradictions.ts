import { BUILT_IN_PROVIDER, BUILT_IN_ROUTE, type CatalogueRoute, Route } from './catalogue-file.ts';

// What a protocol has an endpoint for. Anything else could be loaded and never be served.
const ENDPOINTS_OF: Readonly<Record<string, readonly string[]>> = {
  openai: ['chat', 'completions', 'embeddings'],
  anthropic: ['chat', 'messages'],
  [BUILT_IN_PROVIDER]: ['chat'],
};

const MOST_NAMED = 20;

export interface Contradiction {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What is wrong between members that are right each by itself. Members that are not are left out here. */
export function contradictions(file: unknown): Contradiction[] {
  const providers = isMapping(file) && isMapping(file['providers']) ? file['providers'] : {};
  const routes = isMapping(file) && Array.isArray(file['routes']) ? (file['routes'] as unknown[]) : [];
  const found: Contradiction[] = [];
  if (Object.hasOwn(providers, BUILT_IN_PROVIDER)) {
    found.push({
      path: ['providers', BUILT_IN_PROVIDER],
      message: `the provider ${BUILT_IN_PROVIDER} is built in; route to it without declaring it`,
    });
  }
  const known = inWords([...Object.keys(providers), BUILT_IN_PROVIDER]);
  const seen = new Set<string>();
  routes.map(rightMembers).forEach((route, index) => {
    const { id, provider, endpoints = [] } = route;
    const add = (member: string, message: string) => found.push({ path: ['routes', index, member], message });
    if (id !== undefined) {
      if (seen.has(id)) add('id', `the route ${id} is named twice`);
      seen.add(id);
    }
    for (const [member, message] of tooHigh(route)) add(member, message);
    if (provider === undefined) return;
    const isBuiltIn = provider === BUILT_IN_PROVIDER;
    if (!isBuiltIn && !Object.hasOwn(providers, provider)) {
      add('provider', `there is no provider ${JSON.stringify(provider)}; there are ${known}`);
      return;
    }
    if (id === BUILT_IN_ROUTE && !isBuiltIn) {
      add('id', `the id ${BUILT_IN_ROUTE} is that of a built-in route; its provider is ${BUILT_IN_PROVIDER}`);
    }
    const protocol = isBuiltIn ? BUILT_IN_PROVIDER : protocolOf(providers[provider]);
    const accepted = protocol === undefined ? undefined : ENDPOINTS_OF[protocol];
    const stray = accepted && endpoints.find((endpoint) => !accepted.includes(endpoint));
    if (stray !== undefined) {
      add(
        'endpoints',
        `the provider ${provider} speaks ${protocol} and has no endpoint ${stray}; accepted are ${accepted?.join(', ')}`,
      );
    }
  });
  return found;
}

function tooHigh({ max_output_tokens: most, ...route }: Partial<CatalogueRoute>): [string, string][] {
  if (most === undefined) return [];
  return (['default_output_tokens', 'min_output_tokens'] as const).flatMap((member) => {
    const value = route[member];
    return value === undefined || value <= most
      ? []
      : [[member, `is ${value} and must be at most max_output_tokens, which is ${most}`]];
  });
}

/** Of what stands for a route, the members that are as they must be. */
function rightMembers(route: unknown): Partial<CatalogueRoute> {
  if (!isMapping(route)) return {};
  return Object.fromEntries(
    Object.entries(Route.shape).flatMap(([member, schema]) => {
      const result = schema.safeParse(route[member]);
      return result.success ? [[member, result.data]] : [];
    }),
  );
}

function protocolOf(provider: unknown): string | undefined {
  const protocol = isMapping(provider) ? provider['protocol'] : undefined;
  return typeof protocol === 'string' ? protocol : undefined;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inWords(names: readonly string[]): string {
  const others = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}
