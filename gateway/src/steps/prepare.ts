import type { Route } from '../catalogue/queries.ts';
import type { Context } from '../pipeline/context.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { takenOnce } from '../protocols/call.ts';
import { droppedHeader } from '../protocols/dropped-header.ts';
import { formatOf } from '../protocols/formats.ts';
import { headersToCaller, headersToProvider } from '../protocols/passed-headers.ts';
import { redactionOf } from '../protocols/redaction.ts';
import { splice } from '../protocols/splice.ts';
import { headersFor } from '../upstreams/headers.ts';
import { removalsFor, targetFor } from './upstream-target.ts';
import { mostPromptTokens } from './usage-bounds.ts';

type Needs = Pick<
  Context,
  | 'endpoint'
  | 'key'
  | 'call'
  | 'route'
  | 'surface'
  | 'isByok'
  | 'apiKey'
  | 'outputCap'
  | 'droppedTools'
  | 'heldBody'
>;

/** Says whose error it is, where the provider's own passes. */
const FROM_PROVIDER = { 'x-gatehouse-error-source': 'provider' };

/** The request as the provider gets it: the caller's bytes, edited for the provider, below a head of our own. */
export function prepare(
  context: Needs,
  { request }: Pick<Exchange, 'request'>,
): Pick<Context, 'outgoing' | 'mostPromptTokens'> {
  const { endpoint, call, route, surface, isByok, apiKey, outputCap, droppedTools, heldBody } = context;
  const { provider } = route;
  const format = formatOf(surface);
  const { dialect } = format;
  const { isStream, choices, showsUsage, layout } = call;
  const removals = removalsFor(provider.flags, format, call);
  const target = targetFor(route, outputCap, removals, droppedTools);
  const body = splice(call.takeBody(), format.upstreamEdits(layout, target));
  heldBody.resize(body.length);
  const tools = Array.from(droppedTools, (type) => `tools[${type}]`);
  const disclosed = droppedHeader([...removals.dropped, ...tools]);
  const passed = headersToProvider(request.headers, {
    dialect,
    isByok,
    isNative: formatOf(endpoint).dialect === dialect,
    betaHeaders: provider.flags.betaHeaders,
    organizationId: context.key.organizationId,
  });
  const redaction = redactionOf(apiKey);
  return {
    outgoing: {
      surface,
      path: pathOf(route, surface),
      query: provider.flags.query,
      headers: headersFor({ dialect, isStream, apiKey, flags: provider.flags, passed }),
      isStream,
      takeBody: takenOnce(body),
      headersToCaller: (status, headers) => ({
        ...headersToCaller(headers, { dialect, isByok }, redaction),
        ...(status >= 400 && FROM_PROVIDER),
        ...disclosed,
      }),
      openStream: (redacted) => format.openStream({ showsUsage, choices, redaction: redacted }),
      openUsage: () => format.openUsage(),
      streamError: (error, requestId) => formatOf(endpoint).streamError(error, requestId),
      passesWhole: format.passesWhole ?? false,
      answerForm: { surface, secret: apiKey },
    },
    mostPromptTokens: mostPromptTokens(route, call, body.length),
  };
}

function pathOf({ provider }: Pick<Route, 'provider'>, surface: Context['surface']): string {
  const path = provider.surfaces.get(surface);
  if (path === undefined) throw new Error(`the provider ${provider.name} has no ${surface}`);
  return path;
}
