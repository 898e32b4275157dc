import { unusableBody } from '../http/body-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { createCall } from '../protocols/call.ts';
import type { TranslationNotes, TranslationOptions } from '../protocols/translation/index.ts';
import { awaitRead } from './await-read.ts';

type Needs = Pick<Context, 'key' | 'endpoint' | 'surface' | 'call' | 'target' | 'heldBody'>;

/**
 * The call in the surface's format: the caller's own bytes if it is the same, otherwise a translation, made in a reader
 * thread for a large body. 400 names what the other format does not have.
 */
export async function translate(
  context: Needs,
  exchange: Exchange,
  { readers }: Pick<Dependencies, 'readers'>,
): Promise<Pick<Context, 'providerCall' | 'translation'>> {
  const { key, endpoint, surface, call, target, heldBody } = context;
  const options: TranslationOptions = {
    keep: target.provider.flags.keep,
    requestId: exchange.id,
    createdSeconds: Number(exchange.startedAtMicros / 1_000_000n),
    promptTokens: call.promptTokens,
  };
  if (call.format === surface) {
    const translation = endpoint === surface ? undefined : { dropped: [], notes: plainNotes(call, options) };
    return { providerCall: call, translation };
  }
  exchange.throwIfStopped();
  const input = { from: call.format, to: surface, options };
  const read = readers.read(key.organizationId, 'translation', input, call.takeBody());
  const { result, body } = await awaitRead(exchange, read);
  if (result.kind === 'refused') throw unusableBody(result.issue);
  heldBody.resize(body.length);
  const { facts, dropped, notes } = result;
  return { providerCall: createCall(facts, body), translation: { dropped, notes } };
}

/** For a request that needed no translation although its answer does. */
function plainNotes(
  { model, showsUsage }: Needs['call'],
  { requestId, createdSeconds, promptTokens }: TranslationOptions,
): TranslationNotes {
  return { model, requestId, createdSeconds, promptTokens, showsUsage, customTools: [], toolNames: {} };
}
