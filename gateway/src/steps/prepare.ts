import type { Provider } from '../catalogue/route.ts';
import { createBody } from '../formats/call.ts';
import { formatOf, openCallersStream } from '../formats/formats.ts';
import { headersToCaller, headersToProvider, withheldBetas } from '../formats/passed-headers.ts';
import { namesInHeader } from '../http/names-in-header.ts';
import type { Context } from '../pipeline/context.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { headersFor, isEventStream } from '../upstreams/headers.ts';
import type { UpstreamHeaders } from '../upstreams/upstream.ts';
import { redactionOf } from '../wire/redaction.ts';
import { splice } from '../wire/splice.ts';
import { toolCallCap } from './priced-calls.ts';
import { type Removals, removalsFor, targetFor } from './upstream-target.ts';
import { mostPromptTokens } from './usage-bounds.ts';

type Needs = Pick<
  Context,
  | 'endpoint'
  | 'key'
  | 'call'
  | 'providerCall'
  | 'translation'
  | 'route'
  | 'target'
  | 'surface'
  | 'isByok'
  | 'apiKey'
  | 'outputCap'
  | 'droppedTools'
  | 'heldBody'
> & {
  /** The bytes of the request that stay in memory beside the body that is sent, because another attempt may need them. */
  readonly keptBytes?: number;
};

/** Marks an error as the provider's own. */
const FROM_PROVIDER = { 'x-gatehouse-error-source': 'provider' };

/** The request as the provider gets it: the caller's bytes, edited for the provider, with headers of the gateway. */
export function prepare(
  context: Needs,
  { request }: Pick<Exchange, 'request'>,
): Pick<Context, 'outgoing' | 'mostPromptTokens'> {
  const { endpoint, call, providerCall, translation, surface, isByok, apiKey, heldBody } = context;
  const { provider, upstreamModel } = context.target;
  const { flags } = provider;
  const format = formatOf(surface);
  const { dialect } = format;
  const { isStream, choices, showsUsage } = call;
  const removals = removalsFor(flags, format, providerCall);
  const { droppedTools, outputCap } = context;
  // With the organisation's own key the calls are on its own bill.
  const names = isByok ? [] : context.target.microPkrPerCall.keys();
  const toolCalls = toolCallCap({ names, droppedTools }, providerCall);
  const target = targetFor({ provider, upstreamModel }, outputCap, removals, droppedTools, toolCalls);
  const { keptBytes = 0 } = context;
  const given = keptBytes > 0 ? providerCall.peekBody() : providerCall.takeBody();
  const body = splice(given, format.upstreamEdits(providerCall.layout, target));
  heldBody.resize(keptBytes + body.length);
  const passage = {
    dialect,
    isByok,
    isNative: formatOf(endpoint).dialect === dialect,
    betaHeaders: flags.betaHeaders,
    organizationId: context.key.organizationId,
  };
  const passed = headersToProvider(request.headers, passage);
  const redaction = redactionOf(apiKey);
  const betas = withheldBetas(request.headers, passage).map((name) => `anthropic-beta[${name}]`);
  const left = [...droppedNames(context, removals), ...betas];
  const ownHeaders = left.length === 0 ? {} : { 'x-gatehouse-dropped': namesInHeader(left) };
  const answerTranslation =
    translation && endpoint !== surface ? { to: endpoint, notes: translation.notes } : undefined;
  return {
    outgoing: {
      surface,
      path: pathOf(provider, surface),
      query: flags.query,
      headers: headersFor({ dialect, isStream, apiKey, flags, passed }),
      isStream,
      takeBody: createBody(body).takeBody,
      headersToCaller: (status, headers) => ({
        ...headersToCaller(headers, { dialect, isByok }, redaction),
        ...(answerTranslation && contentType(headers)),
        ...(status >= 400 && FROM_PROVIDER),
        ...ownHeaders,
      }),
      openStream: () => openCallersStream(surface, answerTranslation, { showsUsage, choices, redaction }),
      openUnseenStream: () => format.openStream({ showsUsage: true, choices }),
      openUsage: () => format.openUsage(),
      streamError: (error, requestId) => formatOf(endpoint).streamError(error, requestId),
      passesWhole: format.passesWhole ?? false,
      answerForm: {
        surface,
        secret: apiKey,
        translation: answerTranslation,
        stream: isStream ? { showsUsage, choices } : undefined,
      },
    },
    mostPromptTokens: mostPromptTokens(
      context.route,
      { ...providerCall, uncountableParts: call.uncountableParts },
      body.length,
    ),
  };
}

/** The names of what the caller sent and the provider does not get. */
function droppedNames({ translation, droppedTools }: Needs, { dropped }: Removals): readonly string[] {
  const tools = Array.from(droppedTools, (type) => `tools[${type}]`);
  return [...new Set([...(translation?.dropped ?? []), ...dropped, ...tools])];
}

/** The content type of a translated answer. */
function contentType(headers: UpstreamHeaders): Record<string, string> {
  const type = isEventStream(headers) ? 'text/event-stream' : 'application/json';
  return { 'content-type': `${type}; charset=utf-8` };
}

function pathOf({ name, surfaces }: Provider, surface: Context['surface']): string {
  const path = surfaces.get(surface);
  if (path === undefined) throw new Error(`the provider ${name} has no ${surface}`);
  return path;
}
