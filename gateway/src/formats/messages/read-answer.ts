import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import { readWhole } from '../answer-tally.ts';
import type { AnswerContent } from '../format.ts';
import { errorBeside } from '../peculiarities/error-message.ts';
import { ABORTED, finishOf } from '../peculiarities/finish-reasons.ts';
import { type Answer, type Stop, type StopReason, serviceTierOf } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import { reasoningPart } from '../translation/reasoning.ts';
import { textOfInput } from '../translation/tool-input.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { hearBlock } from './pieces.ts';
import { readUsage } from './usage.ts';

const MAX_BLOCKS = 4_096;

/** Reads a message that came whole. Without a list of blocks, empty or not, it is none. */
export function readMessagesAnswer(body: Buffer): AnswerContent | undefined {
  return readWhole(body, (value) => {
    const { content: blocks } = value;
    if (!Array.isArray(blocks)) return undefined;
    const usage = readUsage(value['usage']);
    return {
      usage,
      hasReasoning: (usage?.reasoningTokens ?? 0) > 0,
      upstreamError: errorBeside(value) ?? abortErrorOf(value) ?? null,
      hearAll: (tally) => {
        for (const [index, block] of blocks.entries()) hearBlock(tally, block, index);
      },
    };
  });
}

/** The error of a message that stops because its provider failed; undefined for all others. */
export function abortErrorOf({ stop_reason: reason }: JsonObject): string | undefined {
  return finishOf(reason) === 'failed' ? ABORTED : undefined;
}

/** A message for a translation; undefined for one that its provider aborted. */
export function readAnswer(
  answer: JsonObject,
  exact: ReadExact,
  notes: TranslationNotes,
): Answer | undefined {
  const { content: blocks, id, model, usage: stated } = answer;
  if (!Array.isArray(blocks) || abortErrorOf(answer) !== undefined) return undefined;
  // The input of a tool is all of which the caller gets numbers.
  const hasCalls = blocks.some((block) => isJsonObject(block) && block['type'] === 'tool_use');
  const content = hasCalls ? (exact()['content'] as readonly unknown[]) : blocks;
  const usage = readUsage(stated);
  const ids = new CallIds(notes);
  const parts = content
    .slice(0, MAX_BLOCKS)
    .flatMap((block) => (isJsonObject(block) ? readBlock(block, ids) : []));
  return {
    id: textOf(id),
    model: textOf(model),
    parts,
    stop: stopOf(
      answer,
      parts.some(({ type }) => type === 'toolCall'),
    ),
    ...(usage && { usage }),
    ...(isJsonObject(stated) && serviceTierOf(stated)),
  };
}

function readBlock(block: JsonObject, ids: CallIds): AssistantPart[] {
  switch (block['type']) {
    case 'text':
      return textOf(block['text']) === '' ? [] : [{ type: 'text', text: textOf(block['text']) }];
    case 'thinking': {
      const value = textOf(block['signature']);
      return reasoningPart(
        textOf(block['thinking']),
        value === '' ? undefined : { kind: 'signature', value },
      );
    }
    case 'redacted_thinking': {
      const value = textOf(block['data']);
      return reasoningPart('', value === '' ? undefined : { kind: 'redacted', value });
    }
    case 'tool_use': {
      const name = textOf(block['name']);
      if (name === '') return [];
      const id = ids.give(textOf(block['id']));
      return [{ type: 'toolCall', id, kind: 'function', name, arguments: textOfInput(block['input']) }];
    }
    default:
      // Calls of hosted tools, which were not declared, and kinds of blocks that came after this was written.
      return [];
  }
}

/** Why a message ended, in a whole answer or in the delta that says it. Servers that speak both formats say it in the words of either. */
export function stopOf(
  { stop_reason: reason, stop_sequence: sequence }: JsonObject,
  hasCalls: boolean,
): Stop {
  const own = typeof reason === 'string' ? OWN_STOPS.get(reason.toLowerCase()) : undefined;
  const stopped = typeof sequence === 'string' ? { sequence } : {};
  if (own === 'stopSequence') return { reason: own, ...stopped };
  if (own !== undefined && own !== 'stop' && own !== 'toolCalls') return { reason: own };
  switch (own ?? finishOf(reason)) {
    case 'length':
    case 'unknown':
      return { reason: 'length' };
    case 'contentFilter':
      return { reason: 'refusal' };
    default:
      // A turn that called tools waits for their results, whatever it says, and one that called none has none to wait for.
      return { reason: hasCalls ? 'toolCalls' : 'stop' };
  }
}

/** Anthropic's words for each reason. */
export const STOP_WORDS = {
  stop: 'end_turn',
  length: 'max_tokens',
  stopSequence: 'stop_sequence',
  toolCalls: 'tool_use',
  pause: 'pause_turn',
  refusal: 'refusal',
  contextWindow: 'model_context_window_exceeded',
} as const satisfies { readonly [Reason in StopReason]?: string };

const OWN_STOPS: ReadonlyMap<string, StopReason> = new Map(
  Object.entries(STOP_WORDS).map(([reason, word]) => [word, reason as StopReason]),
);
