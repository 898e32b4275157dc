import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import { readWhole } from '../answer-tally.ts';
import type { AnswerContent } from '../format.ts';
import { errorBeside } from '../peculiarities/error-message.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import type { Answer, Stop, StopReason } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { AssistantPart } from '../translation/conversation.ts';
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
      upstreamError: errorBeside(value) ?? null,
      hearAll: (tally) => {
        for (const [index, block] of blocks.entries()) hearBlock(tally, block, index);
      },
    };
  });
}

/** A message for a translation. */
export function readAnswer(
  answer: JsonObject,
  exact: ReadExact,
  notes: TranslationNotes,
): Answer | undefined {
  const { content: blocks, id, model, usage: stated } = answer;
  if (!Array.isArray(blocks)) return undefined;
  // The input of a tool is all of which the caller gets numbers.
  const hasCalls = blocks.some((block) => isJsonObject(block) && block['type'] === 'tool_use');
  const content = hasCalls ? (exact()['content'] as readonly unknown[]) : blocks;
  const usage = readUsage(stated);
  const ids = new CallIds(notes);
  return {
    id: typeof id === 'string' ? id : '',
    model: typeof model === 'string' ? model : '',
    parts: content
      .slice(0, MAX_BLOCKS)
      .flatMap((block) => (isJsonObject(block) ? readBlock(block, ids) : [])),
    stop: stopOf(answer, hasCalls),
    ...(usage && { usage }),
    ...serviceTierOf(stated),
  };
}

function readBlock(block: JsonObject, ids: CallIds): AssistantPart[] {
  switch (block['type']) {
    case 'text':
      return textOf(block['text']) === '' ? [] : [{ type: 'text', text: textOf(block['text']) }];
    case 'thinking': {
      const [text, signature] = [textOf(block['thinking']), textOf(block['signature'])];
      if (text === '' && signature === '') return [];
      return [
        {
          type: 'reasoning',
          text,
          ...(signature !== '' && { seal: { kind: 'signature', value: signature } }),
        },
      ];
    }
    case 'redacted_thinking':
      return textOf(block['data']) === ''
        ? []
        : [{ type: 'reasoning', text: '', seal: { kind: 'redacted', value: textOf(block['data']) } }];
    case 'tool_use':
      return [
        {
          type: 'toolCall',
          id: ids.give(textOf(block['id'])),
          kind: 'function',
          name: textOf(block['name']),
          arguments: textOfInput(block['input']),
        },
      ];
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
  if (own !== undefined && own !== 'stop') return { reason: own };
  switch (own ?? finishOf(reason)) {
    case 'length':
    case 'unknown':
      return { reason: 'length' };
    case 'contentFilter':
      return { reason: 'refusal' };
    default:
      // A turn that called tools waits for their results, whatever it says.
      return { reason: hasCalls ? 'toolCalls' : 'stop' };
  }
}

const OWN_STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stopSequence'],
  ['tool_use', 'toolCalls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'contextWindow'],
]);

/** The tier in OpenAI's words. */
export function serviceTierOf(usage: unknown): { readonly serviceTier?: string } {
  const tier = isJsonObject(usage) ? usage['service_tier'] : undefined;
  if (typeof tier !== 'string') return {};
  return { serviceTier: tier === 'standard' ? 'default' : tier };
}
