import type { JsonObject } from '../../wire/json.ts';
import type { Answer } from '../translation/answer.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import {
  callItem,
  formOf,
  type ItemStatus,
  itemId,
  type MessageContent,
  messageItem,
  reasoningItem,
} from './output-items.ts';
import { endingOf, responseObject } from './response-object.ts';

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
