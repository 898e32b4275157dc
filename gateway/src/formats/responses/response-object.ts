import { parseExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import type { Answer, Stop } from '../translation/answer.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import {
  callItem,
  formOf,
  type ItemStatus,
  itemId,
  type MessageContent,
  messageItem,
  reasoningItem,
} from './output-items.ts';

// The response object, which is the answer and, at different stages, part of the first and the last event of a stream.

const NO_REASONING = { effort: null, summary: null };
const PLAIN_TEXT = { format: { type: 'text' } };
/** The members of its request that an answer repeats, with their values where the request has none. */
const ECHOED: JsonObject = {
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: NO_REASONING,
  safety_identifier: null,
  temperature: null,
  text: PLAIN_TEXT,
  tool_choice: 'auto',
  top_p: null,
  user: null,
};

// A schema or a list of tools may be larger than the answer, and a stream says all of this three times.
const MAX_ECHO_CHARACTERS = 4096;

/**
 * The members of a request that its answer repeats: small ones, to which nobody needs to wait for an answer. Tools and
 * instructions, which Codex sends by the ten thousand tokens, are not among them.
 */
export function echoOf(body: JsonObject): string {
  const echoed = Object.fromEntries(
    Object.keys(ECHOED).flatMap((name) => {
      const value = body[name];
      if (value === undefined || value === null) return [];
      return JSON.stringify(value).length > MAX_ECHO_CHARACTERS ? [] : [[name, value]];
    }),
  );
  return JSON.stringify(echoed);
}

export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly JsonObject[];
  /** The provider's name of the model, where it gave one. */
  readonly model?: string;
  readonly serviceTier?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly incompleteReason?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string };
}

export function responseObject(notes: TranslationNotes, state: ResponseState): JsonObject {
  const { status, output, model, serviceTier, usage, incompleteReason, error } = state;
  return {
    id: `resp_${idSuffix(notes)}`,
    object: 'response',
    created_at: notes.createdSeconds,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    instructions: null,
    max_tool_calls: null,
    model: model || notes.model,
    output,
    previous_response_id: null,
    ...echoed(notes),
    service_tier: serviceTier ?? 'default',
    store: false,
    tools: [],
    top_logprobs: 0,
    truncation: 'disabled',
    usage: status === 'in_progress' || status === 'failed' ? null : usageObject(usage, notes),
  };
}

/** The members of the request, each object with the members that it did not state. */
function echoed({ echo = '{}' }: TranslationNotes): JsonObject {
  const stated = parseExact(echo) as JsonObject;
  const { reasoning, text } = stated;
  return {
    ...ECHOED,
    ...stated,
    reasoning: { ...NO_REASONING, ...(isJsonObject(reasoning) && reasoning) },
    text: { ...PLAIN_TEXT, ...(isJsonObject(text) && text) },
  };
}

/** The part that the ids of a response and its items have in common. */
export function idSuffix(notes: TranslationNotes): string {
  return notes.requestId.replaceAll('-', '');
}

/** The AI SDK takes no response without usage for one: what the provider did not state is the prompt as it was counted here. */
function usageObject(stated: Usage | undefined, notes: TranslationNotes): JsonObject {
  const usage: Usage = stated ?? { promptTokens: notes.promptTokens, completionTokens: 0 };
  const { promptTokens, completionTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: {
      cached_tokens: cacheReadTokens ?? 0,
      ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
    },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: promptTokens + completionTokens,
  };
}

/**
 * How a response ends for this reason: complete, or cut short and why. A refusal without words of the model is the
 * provider's, which stopped the answer.
 */
export function endingOf(
  stop: Stop,
  hasRefusal: boolean,
): Pick<ResponseState, 'incompleteReason'> & { readonly status: 'completed' | 'incomplete' } {
  switch (stop.reason) {
    case 'refusal':
      return hasRefusal
        ? { status: 'completed' }
        : { status: 'incomplete', incompleteReason: 'content_filter' };
    case 'length':
    case 'contextWindow':
      return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
    case 'contentFilter':
      return { status: 'incomplete', incompleteReason: 'content_filter' };
    default:
      return { status: 'completed' };
  }
}

/** The answer as a response. */
export function writeAnswer(answer: Answer, notes: TranslationNotes): JsonObject {
  const hasRefusal = answer.parts.some(({ type }) => type === 'refusal');
  const ending = endingOf(answer.stop, hasRefusal);
  const output = outputOf(answer.parts, ending.status, notes);
  const { model, serviceTier, usage } = answer;
  return responseObject(notes, { ...ending, output, model, serviceTier, usage });
}

/** Neighbouring texts and refusals are one message. Only the last item can be incomplete. */
function outputOf(
  parts: readonly AssistantPart[],
  lastStatus: ItemStatus,
  notes: TranslationNotes,
): JsonObject[] {
  const output: JsonObject[] = [];
  let message: MessageContent[] = [];
  const endMessage = (status: ItemStatus) => {
    if (message.length > 0)
      output.push(messageItem(itemId('message', notes, output.length), status, message));
    message = [];
  };
  for (const [index, part] of parts.entries()) {
    if (part.type === 'text' || part.type === 'refusal') {
      message.push(part);
      continue;
    }
    endMessage('completed');
    if (part.type === 'reasoning') {
      output.push(reasoningItem(itemId('reasoning', notes, output.length), part.text, part.seal));
    } else {
      const status = index === parts.length - 1 ? lastStatus : 'completed';
      const call = { ...part, callId: part.id };
      output.push(callItem(itemId(formOf(part, notes), notes, output.length), status, call, notes));
    }
  }
  endMessage(lastStatus);
  return output;
}
