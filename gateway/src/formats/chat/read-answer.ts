import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import { readWhole } from '../answer-tally.ts';
import type { AnswerContent } from '../format.ts';
import { errorBeside, readErrorMessage } from '../peculiarities/error-message.ts';
import { ABORTED, finishOf } from '../peculiarities/finish-reasons.ts';
import { hasReasoningTokens, readUsage, statedUsage } from '../peculiarities/usage-names.ts';
import { type Answer, type Stop, serviceTierOf } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import { reasoningPart } from '../translation/reasoning.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { isTokenCount } from '../usage-figures.ts';
import {
  type ChatCall,
  type ChatPiece,
  hearPiece,
  type ReadPiece,
  readMessage,
  SILENCE,
  shownDetail,
} from './pieces.ts';
import { extraSeal, plainSeal, sealOfDetails } from './reasoning.ts';

const MAX_CALLS = 1_024;
/** Members of a message of which the caller may get numbers. */
const WITH_NUMBERS = ['tool_calls', 'reasoning_details'] as const;

/**
 * Reads a chat completion, or a text completion, that came whole. Without a choice it is none, nor where the message of each is null: SDKs
 * read the first one.
 */
export function readChatAnswer(body: Buffer, readPiece: ReadPiece = readMessage): AnswerContent | undefined {
  return readWhole(body, (value) => {
    const { choices } = value;
    if (!Array.isArray(choices) || !choices.some(isChoice)) return undefined;
    const stated = statedUsage(value);
    return {
      usage: readUsage(stated),
      hasReasoning: hasReasoningTokens(stated),
      upstreamError: errorBeside(value) ?? failedChoiceError(choices) ?? null,
      hearAll: (tally) => {
        for (const [position, choice] of choices.entries()) {
          if (isJsonObject(choice)) hearPiece(tally, position, readPiece(choice));
        }
      },
    };
  });
}

function isChoice(choice: unknown): boolean {
  return isJsonObject(choice) && choice['message'] !== null;
}

/** The error of a choice that the provider ended with one, as routers do inside a 200; undefined where all choices ended well. */
export function failedChoiceError(choices: unknown): string | undefined {
  const failed = Array.isArray(choices) ? choices.filter(isJsonObject).find(isFailedChoice) : undefined;
  return failed && (readErrorMessage(failed['error']) ?? ABORTED);
}

/** True if the provider ended the choice with an error. */
function isFailedChoice(choice: JsonObject): boolean {
  return finishOf(choice['finish_reason']) === 'failed' || isJsonObject(choice['error']);
}

/** A chat completion for a translation, for which one choice was asked. Undefined for one that failed. */
export function readAnswer(
  answer: JsonObject,
  exact: ReadExact,
  notes: TranslationNotes,
): Answer | undefined {
  const choices = choicesOf(answer);
  const [choice] = choices;
  const message = choice?.['message'];
  if (!choice || !isJsonObject(message) || isFailedChoice(choice)) return undefined;
  const hasNumbers = choices.some(({ message: one }) =>
    WITH_NUMBERS.some((name) => isJsonObject(one) && Array.isArray(one[name])),
  );
  const parts = partsOf(joinedPieces((hasNumbers ? choicesOf(exact()) : choices).map(readMessage)), notes);
  const usage = readUsage(statedUsage(answer));
  const { id, model, created } = answer;
  return {
    id: textOf(id),
    model: textOf(model),
    parts,
    stop: stopOf(choice, {
      hasCalls: parts.some((part) => part.type === 'toolCall'),
      hasRefusal: parts.some((part) => part.type === 'refusal'),
    }),
    ...(isTokenCount(created) && { createdSeconds: created }),
    ...(usage && { usage }),
    ...serviceTierOf(answer),
  };
}

function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}

/**
 * One piece of several choices, each member of the first that has it. Copilot gives the text and the calls of Claude in a choice each; where
 * others give alternatives, the first counts.
 */
function joinedPieces(pieces: readonly ChatPiece[]): ChatPiece {
  const names = Object.keys(SILENCE) as (keyof ChatPiece)[];
  const members = names.map((name) => [
    name,
    (pieces.find((piece) => piece[name].length > 0) ?? SILENCE)[name],
  ]);
  return Object.fromEntries(members) as ChatPiece;
}

function partsOf(piece: ChatPiece, notes: TranslationNotes): AssistantPart[] {
  const ids = new CallIds(notes);
  const { text, refusal, calls } = piece;
  return [
    ...reasoningOf(piece, notes),
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...(refusal === '' ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...calls.slice(0, MAX_CALLS).flatMap((call) => callParts(call, ids)),
  ];
}

function reasoningOf(
  { reasoning, details }: ChatPiece,
  { keepsReasoning }: TranslationNotes,
): AssistantPart[] {
  const text = reasoning || details.map(shownDetail).join('');
  const seal = sealOfDetails(details) ?? plainSeal(reasoning, keepsReasoning);
  return reasoningPart(text, seal);
}

function callParts(call: ChatCall, ids: CallIds): AssistantPart[] {
  const { kind, name, arguments: written, extra } = call;
  if (name === '') return [];
  const id = ids.give(call.id);
  const seal = extraSeal(id, extra);
  return [...reasoningPart('', seal), { type: 'toolCall', id, kind, name, arguments: written }];
}

/** Why a choice ended. Some servers say stop where they call tools; after a reason that is on no list the answer may not be whole. */
export function stopOf(
  choice: JsonObject,
  { hasCalls, hasRefusal }: { readonly hasCalls: boolean; readonly hasRefusal: boolean },
): Stop {
  switch (finishOf(choice['finish_reason'])) {
    case 'length':
    case 'unknown':
      return { reason: 'length' };
    case 'contentFilter':
      return { reason: 'contentFilter' };
    default: {
      if (hasCalls) return { reason: 'toolCalls' };
      if (hasRefusal) return { reason: 'refusal' };
      // vLLM and its kin say which stop sequence it was, or the number of a token; SGLang under another name.
      const sequence = choice['stop_reason'] ?? choice['matched_stop'];
      return typeof sequence === 'string' && sequence !== ''
        ? { reason: 'stopSequence', sequence }
        : { reason: 'stop' };
    }
  }
}
