import { systemClock } from '@gatehouse/concurrency';
import type { Surface } from '@gatehouse/contract';
import { prepare } from '../attempt/prepare.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import type { Route, Target } from '../catalogue/route.ts';
import { costMicroPkr, WHOLE_PRICE_MILLIONTHS } from '../credit/costs.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { createCall } from '../formats/call.ts';
import { formatOf } from '../formats/formats.ts';
import type { Usage } from '../formats/protocol.ts';
import { readRequest } from '../formats/read-request.ts';
import { describeFailure } from '../providers/failures.ts';
import type { Upstream } from '../providers/upstream.ts';
import { cloudCredentials, platformCandidates, type Reaching } from '../steps/plan.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { parseJson } from '../wire/answer-json.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { redactionOf } from '../wire/redaction.ts';
import { maskKeys } from '../wire/text.ts';
import { type Difference, differencesOf } from './differences.ts';
import { OUTPUT_CAP, probeBody } from './probes.ts';
import { saidIn, totalIn } from './said.ts';

/** One request, as it went. Of what was not learned there is nothing. */
export interface Check {
  readonly surface: Surface;
  readonly isStream: boolean;
  readonly differences: readonly Difference[];
  readonly usage: Usage | undefined;
  /** As the provider puts it. */
  readonly finish: string | undefined;
  readonly hasToolCall: boolean;
  readonly firstTokenMs: number | undefined;
  readonly totalMs: number;
  readonly costMicroPkr: bigint;
  /** An error in the provider's words, or the gateway's, without the credential. */
  readonly error: string | undefined;
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ERROR_LENGTH = 300;

/** Sends one small request to the target of a route on this surface, and reads what comes. */
export async function checkTarget(
  route: Route,
  target: Target,
  surface: Surface,
  isStream: boolean,
  dependencies: Reaching,
): Promise<Check> {
  const startedAtMs = systemClock.monotonicMs();
  const body = probeBody(surface, route.id, isStream);
  const reading = await readRequest(surface, body);
  if (reading.kind === 'refused')
    throw new Error(`the request of a check is refused: ${reading.issue.message}`);
  const call = createCall(reading.facts, body);
  const key = KEY as GatewayKey;
  const context = { key, route, endpoint: surface, call };
  const nothing = { usage: undefined, finish: undefined, hasToolCall: false, firstTokenMs: undefined };
  const failed = (difference: Difference, error: string): Check => ({
    ...{ surface, isStream, ...nothing, differences: [difference], costMicroPkr: 0n },
    ...{ totalMs: systemClock.monotonicMs() - startedAtMs, error: bounded(error) },
  });
  try {
    await cloudCredentials({ targets: [target] }, dependencies);
    const [chosen] = platformCandidates(target, context, dependencies);
    if (!chosen) throw new Error('a target without candidates');
    const candidate = { ...chosen, providerCall: call, translation: undefined, droppedTools: NO_TOOLS };
    const cap = Math.min(OUTPUT_CAP, route.maxOutputTokens);
    const { outgoing } = prepare(
      { ...context, heldBody: UNHELD },
      { candidate, outputCap: cap, loweredOutputCap: undefined, keptBytes: 0 },
      { request: { headers: {} } },
    );
    const sentAtMs = systemClock.monotonicMs();
    const answer = await receive(chosen.upstream, outgoing);
    const redaction = redactionOf(chosen.apiKey);
    const masked = (text: string) => maskKeys(redaction?.text(text) ?? text);
    if ('failure' in answer) return failed(answer.failure, masked(answer.error));
    const { status, headers, bytes, times } = answer;
    if (status < 200 || status >= 300)
      return failed('status', masked(`${status}: ${bytes.toString('utf8', 0, 2_000)}`));
    const read = readAnswer(surface, bytes, headers);
    if (!read) return failed('not_an_answer', masked(bytes.toString('utf8', 0, 2_000)));
    const { reading: known, documents, cameAsStream, isComplete, firstContentAt } = read;
    const said = saidIn(surface, documents);
    const { usage, upstreamError, hasContent, hasReasoning } = known;
    const generatedTokens = await known.countGenerated((texts) => countTokens(texts));
    const differences = differencesOf({
      ...{ surface, isStream, streamUsage: target.provider.flags.streamUsage },
      contentType:
        String(headers['content-type'] ?? '')
          .split(';')[0]
          ?.trim()
          .toLowerCase() ?? '',
      ...{ cameAsStream, isComplete, hasContent, hasReasoning, upstreamError, usage, said },
      saidTotal: totalIn(documents),
      outputCap: cap,
      promptTokens: call.promptTokens,
      generatedTokens,
    });
    const billed = usage ?? { promptTokens: call.promptTokens, completionTokens: generatedTokens };
    return {
      ...{ surface, isStream, differences, usage, finish: said.finish },
      hasToolCall: said.calls.length > 0,
      firstTokenMs: cameAsStream ? timeOf(firstContentAt, times, sentAtMs) : undefined,
      totalMs: systemClock.monotonicMs() - startedAtMs,
      costMicroPkr: surface === 'count_tokens' ? 0n : costMicroPkr(target, billed, WHOLE_PRICE_MILLIONTHS),
      error: upstreamError === null ? undefined : bounded(masked(upstreamError)),
    };
  } catch (error) {
    if (error instanceof GatewayError) return failed('not_configured', error.message);
    throw error;
  }
}

// A check is nobody's request: it is neither admitted nor recorded.
const KEY = { id: 'check', organizationId: 'check', byokFallback: false };
const NO_TOOLS: ReadonlySet<string> = new Set();
const UNHELD = { resize: () => true };

interface Received {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly bytes: Buffer;
  /** When the bytes up to each place were there. */
  readonly times: readonly { readonly end: number; readonly atMs: number }[];
}

function receive(
  upstream: Upstream,
  outgoing: ReturnType<typeof prepare>['outgoing'],
): Promise<Received | { readonly failure: Difference; readonly error: string }> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof receive>>>();
  const { path, query, headers } = outgoing;
  const pieces: Buffer[] = [];
  const times: { end: number; atMs: number }[] = [];
  let head: Pick<Received, 'status' | 'headers'> | undefined;
  let length = 0;
  const finish = () => {
    clearTimeout(timer);
    if (head) resolve({ ...head, bytes: Buffer.concat(pieces), times });
  };
  // Before it is sent: what cannot be sent at all fails at once.
  const timer = setTimeout(() => {
    sending.abort();
    resolve({ failure: 'timed_out', error: `no whole answer within ${TIMEOUT_MS / 1000} s` });
  }, TIMEOUT_MS);
  const sending = upstream.send(
    {
      ...{ owner: KEY.organizationId, path, query, headers, body: outgoing.takeBody() },
      ...{ timeoutMs: TIMEOUT_MS, onBodySent: () => undefined },
    },
    {
      onStart: () => undefined,
      onHead: (status, answered) => {
        head = { status, headers: answered };
      },
      onData(chunk) {
        pieces.push(Buffer.from(chunk));
        length += chunk.length;
        times.push({ end: length, atMs: systemClock.monotonicMs() });
        if (length <= MAX_BYTES) return;
        sending.abort();
        finish();
      },
      onEnd: finish,
      // What came of an answer that broke is read all the same: its end is then missing.
      onFailure: (error) => {
        if (length > 0) finish();
        else {
          clearTimeout(timer);
          resolve({ failure: 'unreachable', error: describeFailure(error) });
        }
      },
    },
  );
  return promise;
}

/** The answer by the gateway's own readers, and its documents as they came; undefined where it is none. */
function readAnswer(surface: Surface, bytes: Buffer, headers: UpstreamHeaders) {
  const format = formatOf(surface);
  const isEvents =
    String(headers['content-type'] ?? '').startsWith('text/event-stream') ||
    /^\s*(?:data|event):/.test(bytes.toString('utf8', 0, 64));
  if (isEvents && format.eventsOf) {
    const stream = format.openStream({ showsUsage: true, choices: 1 });
    let firstContentAt: number | undefined;
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      stream.push(bytes.subarray(at, at + STEP_BYTES));
      if (stream.hasContent) firstContentAt ??= Math.min(at + STEP_BYTES, bytes.length);
    }
    const { isComplete } = stream;
    stream.end();
    const documents = documentsIn(bytes);
    return documents.length === 0
      ? undefined
      : { reading: stream, documents, cameAsStream: true, isComplete, firstContentAt };
  }
  const content = format.readAnswer(bytes);
  const value = parseJson(bytes.toString());
  if (!content || !isJsonObject(value)) return undefined;
  const { generated, ...known } = content;
  const reading = { ...known, countGenerated: (count: typeof countTokens) => generated.countTokens(count) };
  return { reading, documents: [value], cameAsStream: false, isComplete: true, firstContentAt: undefined };
}

const STEP_BYTES = 64;

function documentsIn(bytes: Buffer): JsonObject[] {
  return bytes
    .toString()
    .split(/\r?\n/)
    .flatMap((line) => {
      const value = line.startsWith('data:') ? parseJson(line.slice(5).trim()) : undefined;
      return isJsonObject(value) ? [value] : [];
    });
}

function timeOf(place: number | undefined, times: Received['times'], sinceMs: number): number | undefined {
  const at = place === undefined ? undefined : times.find(({ end }) => end >= place)?.atMs;
  return at === undefined ? undefined : at - sinceMs;
}

function bounded(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_ERROR_LENGTH);
}
