import type { Surface } from '@gatehouse/contract';
import type { ReadExact } from '../../wire/exact-json.ts';
import type { JsonObject } from '../../wire/json.ts';
import { FORMATS, translatorOf } from '../formats.ts';
import { callIdsOf, withUniqueCalls } from './call-ids.ts';
import { withCallersTools } from './callers-tools.ts';
import type { TranslatedFormat } from './feature-table.ts';
import { Losses } from './losses.ts';
import type { TranslationNotes, TranslationOptions } from './translator.ts';

export { translateError } from '../provider-error.ts';
export type { TranslatedFormat } from './feature-table.ts';
export type { TranslationNotes, TranslationOptions } from './translator.ts';

// The interface of translation. Pure functions over plain data: they run in reader threads too.

interface TranslatedRequest {
  readonly body: JsonObject;
  /** The members that are not sent, by their path in the caller's body; at most 33 names, valid in a header. */
  readonly dropped: readonly string[];
  readonly notes: TranslationNotes;
}

/** True if a caller of one format can be served by a provider of the other. */
export function isTranslated(from: Surface, to: Surface): boolean {
  return from !== to && FORMATS[from]?.translator !== undefined && FORMATS[to]?.translator !== undefined;
}

/**
 * A caller's body in the provider's format. Its model is the caller's; a stream does not ask for usage yet, and an output
 * cap is there only where the caller named one. Throws a BodyError that names what cannot be translated.
 */
export function translateRequest(
  from: Surface,
  to: Surface,
  body: JsonObject,
  options: TranslationOptions,
): TranslatedRequest {
  const [caller, provider] = [translatorOf(from), translatorOf(to)];
  const losses = new Losses(from as TranslatedFormat, to as TranslatedFormat);
  const asked = caller.readRequest(body, losses);
  const callIds = callIdsOf(asked.turns);
  const conversation = { ...asked, turns: withUniqueCalls(asked.turns) };
  const { body: written, ...tools } = provider.writeRequest(conversation, losses, options);
  const { requestId, createdSeconds, promptTokens, itemSeed } = options;
  return {
    body: written,
    dropped: losses.dropped,
    notes: {
      model: conversation.model,
      requestId,
      createdSeconds,
      promptTokens,
      showsUsage: conversation.showsUsage,
      ...tools,
      ...(callIds.length > 0 && { callIds }),
      ...(options.keep.includes('reasoning_content') && { keepsReasoning: true }),
      ...(caller.echoOf && { echo: caller.echoOf(body) }),
      ...(itemSeed !== undefined && body['store'] !== false && { itemSeed }),
      ...(conversation.namespaces && { namespaces: conversation.namespaces }),
      ...(conversation.hasToolSearch && { hasToolSearch: true }),
    },
  };
}

/**
 * A provider's answer in the caller's format; undefined where it is no answer of the provider's format. `from` is the
 * provider's, `to` the caller's. `exact` reads the answer once more; left out where its numbers are exact already.
 */
export function translateAnswer(
  from: Surface,
  to: Surface,
  answer: JsonObject,
  notes: TranslationNotes,
  exact?: ReadExact,
): JsonObject | undefined {
  const read = translatorOf(from).readAnswer(answer, exact ?? (() => answer), notes);
  if (!read) return undefined;
  return translatorOf(to).writeAnswer({ ...read, parts: withCallersTools(read.parts, notes) }, notes);
}
