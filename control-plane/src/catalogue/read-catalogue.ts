import {
  catalogue as contract,
  isStorableText,
  MAX_ROUTE_ID_LENGTH,
  microPkrFromDecimal,
} from '@gatehouse/contract';
import { isCollection, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';

/** A catalogue file says something that cannot be used. The message names the line and what is accepted. */
export class CatalogueFault extends Error {
  override readonly name = 'CatalogueFault';
}

export type Catalogue = z.output<typeof CatalogueFile>;

// Prices become micro-PKR per million tokens: whole numbers, exactly what the file says.
const amount = z.number().transform((value, context) => {
  const micro = microPkrFromDecimal(String(value));
  if (typeof micro === 'bigint') return micro;
  context.addIssue({ code: 'custom', message: 'must be a number of at least 0 with at most 6 decimals' });
  return z.NEVER;
});

// Five percent is 50,000 millionths; four decimals of a percent are the finest step.
const percent = z.number().transform((value, context) => {
  const micro = microPkrFromDecimal(String(value));
  if (typeof micro === 'bigint' && micro <= 100_000_000n && micro % 100n === 0n) return micro / 100n;
  context.addIssue({ code: 'custom', message: 'must be from 0 to 100 with at most 4 decimals' });
  return z.NEVER;
});

const name = (pattern: RegExp, words: string) =>
  z.string().refine((value) => isStorableText(value) && pattern.test(value), { error: `must be ${words}` });

const Provider = z.strictObject({
  protocol: z.enum(['openai', 'anthropic']),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((value) => value.replace(/\/+$/, '')),
  api_key_env: name(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable').optional(),
});

const Route = z.strictObject({
  id: name(/^[\x21-\x7e]+$/, 'printable ASCII without spaces').max(MAX_ROUTE_ID_LENGTH),
  provider: z.string(),
  upstream_model: z.string().min(1),
  endpoints: z.array(z.enum(contract.GATEWAY_ENDPOINTS)).min(1).default(['chat']),
  price_pkr_per_million: z.strictObject({
    input: amount,
    output: amount,
    cache_write: amount.default(0n),
    cache_read: amount.default(0n),
  }),
  byok_fee_percent: percent.default(0n),
  max_output_tokens: z.int().min(1).max(100_000_000),
  timeout_ms: z.int().min(1).max(86_400_000).default(600_000),
  active: z.boolean().default(true),
});

const CatalogueFile = z.strictObject({
  providers: z.record(name(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, - and _'), Provider),
  routes: z.array(Route),
});

/** The provider that is built in; a catalogue may route to it without declaring it. */
export const BUILT_IN_PROVIDER = 'demo';

/** Reads a catalogue file's text. Throws CatalogueFault, naming `source` and the line, for anything unusable. */
export function readCatalogue(text: string, source: string): Catalogue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const syntax = document.errors[0];
  if (syntax) throw new CatalogueFault(`${source}: ${syntax.message.split('\n')[0]}`);

  const fault = (path: readonly PropertyKey[], message: string): CatalogueFault => {
    // A missing member has no place of its own; its nearest parent that exists does.
    for (let depth = path.length; depth >= 0; depth -= 1) {
      const node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
      const range = (node as { range?: [number, number, number] } | undefined)?.range;
      if (range) {
        const where = path.length > 0 ? ` (${path.join('.')})` : '';
        return new CatalogueFault(`${source} line ${lines.linePos(range[0]).line}${where}: ${message}`);
      }
    }
    return new CatalogueFault(`${source}: ${message}`);
  };

  if (!isCollection(document.contents)) throw fault([], 'must have providers and routes');
  const result = CatalogueFile.safeParse(document.toJS());
  const issue = result.error?.issues[0];
  if (issue) throw fault(issue.path, issue.message);
  const catalogue = result.data as Catalogue;

  const ids = new Set<string>();
  catalogue.routes.forEach((route, index) => {
    if (ids.has(route.id)) throw fault(['routes', index, 'id'], `the route ${route.id} is named twice`);
    ids.add(route.id);
    if (route.provider !== BUILT_IN_PROVIDER && !Object.hasOwn(catalogue.providers, route.provider)) {
      throw fault(['routes', index, 'provider'], `the provider ${route.provider} is not among the providers`);
    }
  });
  if (Object.hasOwn(catalogue.providers, BUILT_IN_PROVIDER)) {
    throw fault(
      ['providers', BUILT_IN_PROVIDER],
      `the provider ${BUILT_IN_PROVIDER} is built in; route to it without declaring it`,
    );
  }
  return catalogue;
}
