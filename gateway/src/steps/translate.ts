import { randomBytes } from 'node:crypto';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { noRoomForBody, unusableBody } from '../errors/body-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { createCall } from '../formats/call.ts';
import type { TranslationNotes, TranslationOptions } from '../formats/translation/index.ts';
import { awaitRead } from '../readers/await-read.ts';
import { type Candidate, type TranslatedCandidate, usable } from '../routing/candidate.ts';

/** No one guesses so many. */
const SEED_BYTES = 16;

type Needs = Pick<Context, 'key' | 'endpoint' | 'call' | 'heldBody' | 'candidates' | 'presumed'>;
type Using = Pick<Dependencies, 'readers'>;
type Translated = Pick<TranslatedCandidate, 'providerCall' | 'translation'>;

/**
 * The call in the format of each candidate's surface: the caller's own bytes if it is the same, otherwise a translation, made
 * in a reader thread for a large body, and once for all candidates that need the same. 400 names what the other format does
 * not have. See docs/decisions/0034.
 */
export async function translate(
  context: Needs,
  exchange: Exchange,
  dependencies: Using,
): Promise<Pick<Context, 'translated'>> {
  const { candidates, call, presumed } = context;
  const [sole, another] = candidates;
  if (sole && !another) {
    return { translated: [{ ...sole, ...(await translateFor(sole, context, exchange, dependencies)) }] };
  }
  const results = await translateForEach(context, exchange, dependencies);
  const translated = usable(candidates, (candidate) => {
    const result = results.get(formOf(candidate));
    if (!result || result instanceof GatewayError) throw result ?? new Error('a candidate without a form');
    return result;
  });
  const isUnused = !translated.some(({ providerCall }) => providerCall === call);
  if (isUnused && !presumed) call.releaseBody();
  return { translated };
}

/** By form: the translation, or why there is none. The bodies are all in memory until one of them has been answered. */
async function translateForEach(
  context: Needs,
  exchange: Exchange,
  dependencies: Using,
): Promise<ReadonlyMap<string, Translated | GatewayError>> {
  const { call, heldBody } = context;
  const results = new Map<string, Translated | GatewayError>();
  let bytes = call.peekBody().length;
  for (const candidate of context.candidates) {
    const form = formOf(candidate);
    if (results.has(form)) continue;
    const result = await translateFor(candidate, context, exchange, dependencies).catch(asResult);
    results.set(form, result);
    if (result instanceof GatewayError || result.providerCall === call) continue;
    bytes += result.providerCall.peekBody().length;
    if (!heldBody.resize(bytes)) results.set(form, noRoomForBody());
  }
  return results;
}

/** Candidates of one form are sent the same body, but for edits. */
function formOf({ surface, target }: Candidate): string {
  const { keep, strictFields } = target.provider.flags;
  return [surface, String(strictFields), ...keep].join(' ');
}

async function translateFor(
  { surface, target }: Candidate,
  { key, endpoint, call, heldBody, candidates, presumed }: Needs,
  exchange: Exchange,
  { readers }: Using,
): Promise<Translated> {
  const options: TranslationOptions = {
    keep: target.provider.flags.keep,
    // Mistral, and the servers that are as strict as it is.
    isStrict: target.provider.flags.strictFields,
    requestId: exchange.id,
    createdSeconds: Number(exchange.startedAtMicros / 1_000_000n),
    promptTokens: call.promptTokens,
    ...(endpoint === 'responses' && { itemSeed: randomBytes(SEED_BYTES).toString('hex') }),
  };
  if (call.format === surface) {
    const translation = endpoint === surface ? undefined : { dropped: [], notes: plainNotes(call, options) };
    return { providerCall: call, translation };
  }
  exchange.throwIfStopped();
  const input = { from: call.format, to: surface, options };
  // A small body is kept where it may have to be translated again.
  const isSole = candidates.length === 1 && !presumed;
  // A reader thread takes the memory that it is given.
  const bytes = isSole ? call.takeBody() : Buffer.from(call.peekBody());
  const read = readers.read(key.organizationId, 'translation', input, bytes);
  const { result, body } = await awaitRead(exchange, read);
  if (result.kind === 'refused') throw unusableBody(result.issue);
  if (isSole) heldBody.resize(body.length);
  const { facts, dropped, notes } = result;
  return { providerCall: createCall(facts, body), translation: { dropped, notes } };
}

function asResult(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  throw error;
}

/** For a request that needed no translation although its answer does. */
function plainNotes(
  { model, showsUsage }: Needs['call'],
  { requestId, createdSeconds, promptTokens }: TranslationOptions,
): TranslationNotes {
  return { model, requestId, createdSeconds, promptTokens, showsUsage, customTools: [], toolNames: {} };
}
