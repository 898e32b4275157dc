import type { Provider, Route } from '../catalogue/queries.ts';
import type { Context } from '../pipeline/context.ts';
import type { UpstreamTarget } from '../protocols/body-layout.ts';
import { takenOnce } from '../protocols/call.ts';
import { formatOf } from '../protocols/formats.ts';
import { splice } from '../protocols/splice.ts';
import { headersFor } from '../upstreams/headers.ts';
import { mostPromptTokens } from './usage-bounds.ts';

/** The request as the provider gets it: the caller's bytes, edited for the provider. */
export function prepare({
  endpoint,
  call,
  route,
  surface,
  apiKey,
  outputCap,
  heldBody,
}: Pick<Context, 'endpoint' | 'call' | 'route' | 'surface' | 'apiKey' | 'outputCap' | 'heldBody'>): Pick<
  Context,
  'outgoing' | 'mostPromptTokens'
> {
  const format = formatOf(surface);
  const { isStream, choices, showsUsage, layout } = call;
  const body = splice(call.takeBody(), format.upstreamEdits(layout, targetOf(route, outputCap)));
  heldBody.resize(body.length);
  return {
    outgoing: {
      surface,
      path: route.provider.surfaces.get(surface) ?? '',
      headers: headersFor(isStream, apiKey),
      isStream,
      takeBody: takenOnce(body),
      openStream: (redaction) => format.openStream({ showsUsage, choices, redaction }),
      openUsage: () => format.openUsage(),
      streamError: (error, requestId) => formatOf(endpoint).streamError(error, requestId),
      passesWhole: format.passesWhole ?? false,
      answerForm: { surface, secret: apiKey },
    },
    mostPromptTokens: mostPromptTokens(route, call, body.length),
  };
}

const NOTHING: ReadonlySet<string> = new Set();

function targetOf(
  {
    upstreamModel,
    provider: { outputLimit },
  }: Pick<Route, 'upstreamModel'> & {
    readonly provider: Pick<Provider, 'outputLimit'>;
  },
  outputCap: number,
): UpstreamTarget {
  return { upstreamModel, outputCap, outputLimit, asksForUsage: true, removed: NOTHING };
}
