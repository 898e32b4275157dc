import type { Surface } from '@gatehouse/contract';
import type { Provider } from '../catalogue/route.ts';
import type { Context, Sent } from '../context/context.ts';
import { toolCallCap } from '../credit/priced-calls.ts';
import { mostPromptTokens } from '../credit/usage-bounds.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { createBody } from '../formats/call.ts';
import { formatOf, openCallersStream } from '../formats/formats.ts';
import { headersToCaller, headersToProvider, withheldBetas } from '../formats/passed-headers.ts';
import { headersFor } from '../providers/headers.ts';
import { isEventStream, namesInHeader, type UpstreamHeaders } from '../wire/headers.ts';
import { redactionOf } from '../wire/redaction.ts';
import { splice } from '../wire/splice.ts';
import { type Removals, removalsFor, targetFor } from './upstream-target.ts';

type Needs = Pick<Context, 'endpoint' | 'key' | 'call' | 'route'> & {
  readonly heldBody: Pick<Context['heldBody'], 'resize'>;
};

/** The request that is sent, and the bytes of it that stay. */
export interface Sending extends Omit<Sent, 'outgoing' | 'mostPromptTokens'> {
  /** The bytes of the request that stay in memory beside the body that is sent, because another attempt may need them. */
  readonly keptBytes: number;
}

/** Marks an error as the provider's own. */
const FROM_PROVIDER = { 'x-gatehouse-error-source': 'provider' };

/** The request as the provider gets it: the caller's bytes, edited for the provider, with headers of the gateway. */
export function prepare(
  { endpoint, key, call, route, heldBody }: Needs,
  { candidate, outputCap, loweredOutputCap, keptBytes }: Sending,
  { request }: { readonly request: Pick<Exchange['request'], 'headers'> },
): Sent {
  const { providerCall, translation, surface, isByok, apiKey, droppedTools } = candidate;
  const { provider, upstreamModel, microPkrPerCall } = candidate.target;
  const { flags } = provider;
  const format = formatOf(surface);
  const { dialect } = format;
  const { isStream, choices, showsUsage } = call;
  const encodingFormat = call.members.get('encoding_format');
  const removals = removalsFor(flags, format, providerCall);
  // With the organisation's own key the calls are on its own bill.
  const names = isByok ? [] : microPkrPerCall.keys();
  const toolCalls = toolCallCap({ names, droppedTools }, providerCall);
  const path = pathOf(provider, surface);
  const target = targetFor(
    { provider, upstreamModel },
    outputCap,
    removals,
    droppedTools,
    toolCalls,
    path.includes(MODEL),
  );
  const given = keptBytes > 0 ? providerCall.peekBody() : providerCall.takeBody();
  const body = splice(given, format.upstreamEdits(providerCall.layout, target));
  heldBody.resize(keptBytes + body.length);
  const passage = {
    dialect,
    isByok,
    isNative: formatOf(endpoint).dialect === dialect,
    betaHeaders: flags.betaHeaders,
    organizationId: key.organizationId,
  };
  const passed = headersToProvider(request.headers, passage);
  const redaction = redactionOf(apiKey);
  const betas = withheldBetas(request.headers, passage).map((name) => `anthropic-beta[${name}]`);
  const left = [...droppedNames(candidate, removals), ...betas];
  const ownHeaders = left.length === 0 ? {} : { 'x-gatehouse-dropped': namesInHeader(left) };
  const answerTranslation =
    translation && endpoint !== surface ? { to: endpoint, notes: translation.notes } : undefined;
  return {
    candidate,
    outputCap,
    loweredOutputCap,
    outgoing: {
      surface,
      path: path.includes('{') ? pathFor(path, upstreamModel, isStream) : path,
      query: flags.query,
      headers: headersFor({ dialect, isStream, apiKey, flags, passed }),
      isStream,
      takeBody: createBody(body).takeBody,
      headersToCaller: (status, headers) => ({
        ...headersToCaller(headers, { dialect, isByok }, redaction),
        ...(answerTranslation && contentType(status, headers)),
        ...(status >= 400 && FROM_PROVIDER),
        ...ownHeaders,
      }),
      openStream: () =>
        openCallersStream(surface, answerTranslation, { showsUsage, choices, encodingFormat, redaction }),
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
      route,
      { ...providerCall, uncountableParts: call.uncountableParts },
      body.length,
    ),
  };
}

/** The names of what the caller sent and the provider does not get. */
function droppedNames(
  { translation, droppedTools }: Sent['candidate'],
  { dropped }: Removals,
): readonly string[] {
  const tools = Array.from(droppedTools, (type) => `tools[${type}]`);
  return [...new Set([...(translation?.dropped ?? []), ...dropped, ...tools])];
}

/** The content type of a translated answer. */
function contentType(status: number, headers: UpstreamHeaders): Record<string, string> {
  const type = status < 400 && isEventStream(headers) ? 'text/event-stream' : 'application/json';
  return { 'content-type': `${type}; charset=utf-8` };
}

const MODEL = '{model}';

/** The path with its places filled. */
function pathFor(path: string, upstreamModel: string, isStream: boolean): string {
  // Providers write names with @ and : into their paths as they are.
  const model = encodeURIComponent(upstreamModel).replaceAll('%40', '@').replaceAll('%3A', ':');
  return path
    .replaceAll(MODEL, () => model)
    .replace(/\{([^|}]*)\|([^}]*)\}/g, (_, whole: string, stream: string) => (isStream ? stream : whole));
}

function pathOf({ name, surfaces }: Provider, surface: Surface): string {
  const path = surfaces.get(surface);
  if (path === undefined) throw new Error(`the provider ${name} has no ${surface}`);
  return path;
}
