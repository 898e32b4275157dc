import { readCatalogue } from '@gatehouse/control-plane/catalogue-file';
import { parseDocument } from 'yaml';
import { readCatalogueText } from '../../service/catalogue-text.ts';
import type { Context } from '../../terminal/command.ts';
import { columns, print, shown } from '../../terminal/output.ts';
import { readGivenFile } from '../given-file.ts';
import { PRICES_FROM, pkrPrices, publicPrice } from './public-prices.ts';
import { readUsdRate } from './usd-rate.ts';

const PARTS = ['input', 'output', 'cache_write', 'cache_read'] as const;

type Prices = Readonly<Partial<Record<(typeof PARTS)[number], number>>>;

interface Proposal {
  readonly route: string;
  readonly provider: string;
  readonly model: string;
  /** In PKR per million tokens as the file has them; undefined where it has none. */
  readonly now: Prices | undefined;
  /** In dollars per million tokens. */
  readonly dollars: Prices;
  /** In PKR, where a rate was given. */
  readonly proposed: Prices | undefined;
  readonly source: string | undefined;
  readonly hasTiers: boolean;
}

/** Prints what the prices of a catalogue would be by what providers publish. It changes nothing. */
export async function comparePrices(
  path: string,
  rate: string | undefined,
  context: Context,
): Promise<number> {
  const usdPkr = rate === undefined ? undefined : readUsdRate(rate);
  const text = await readGivenFile(path, readCatalogueText);
  // Only what is a catalogue is compared.
  readCatalogue(text, path);
  const { proposals, unknown } = compare(text, usdPkr);
  print(context, { source: PRICES_FROM, usd_pkr: usdPkr ?? null, proposals, not_found: unknown }, [
    ...lines(proposals),
    ...unknown.map((name) => `not found: ${shown(name)}`),
    `Public prices of ${PRICES_FROM.date}, by ${PRICES_FROM.name} ${PRICES_FROM.version}. Nothing was changed.`,
  ]);
  return 0;
}

interface Target {
  readonly provider: string;
  readonly upstream_model: string;
  readonly price_pkr_per_million?: Prices;
}

type RouteEntry = Partial<Target> & { readonly id: string; readonly targets?: readonly Target[] };

function compare(text: string, usdPkr: number | undefined) {
  const { routes = [] } = parseDocument(text).toJS() as { readonly routes?: readonly RouteEntry[] };
  const proposals: Proposal[] = [];
  const unknown: string[] = [];
  for (const { id, targets, provider = '', upstream_model = '', price_pkr_per_million: own } of routes) {
    for (const target of targets ?? [{ provider, upstream_model }]) {
      if (target.provider === 'demo') continue;
      const found = publicPrice(target.provider, target.upstream_model);
      if (!found) {
        unknown.push(`${id} (${target.upstream_model} of ${target.provider})`);
        continue;
      }
      const dollars = Object.fromEntries(PARTS.map((part) => [part, found[part]])) as Prices;
      proposals.push({
        route: id,
        provider: target.provider,
        model: target.upstream_model,
        now: target.price_pkr_per_million ?? own,
        dollars,
        proposed: usdPkr === undefined ? undefined : pkrPrices(found, usdPkr),
        source: found.source,
        hasTiers: found.tiers.length > 0,
      });
    }
  }
  return { proposals, unknown };
}

function lines(proposals: readonly Proposal[]): string[] {
  return columns(
    proposals.map(({ route, now, dollars, proposed, source, hasTiers }) => [
      shown(route),
      ...PARTS.map((part) =>
        cell(
          part,
          now?.[part] ?? (part.startsWith('cache') ? now?.input : undefined),
          dollars[part],
          proposed?.[part],
        ),
      ),
      `${source ?? ''}${hasTiers ? ' (more for long prompts)' : ''}`,
    ]),
  );
}

function cell(
  part: string,
  now: number | undefined,
  dollars: number | undefined,
  proposed: number | undefined,
): string {
  if (proposed === undefined) return `${part} ${now ?? '–'} PKR, public $${dollars}`;
  return now === proposed ? `${part} ${now}` : `${part} ${now ?? '–'} -> ${proposed}`;
}
