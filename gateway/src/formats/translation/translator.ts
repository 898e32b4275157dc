import type { ReadExact } from '../../wire/exact-json.ts';
import type { JsonObject } from '../../wire/json.ts';
import type { Answer } from './answer.ts';
import type { Conversation } from './conversation.ts';
import type { Losses } from './losses.ts';
import type { TranslationNotes, TranslationOptions } from './notes.ts';
import type { StreamWriter } from './stream-events.ts';

/** One format's translation into the neutral form and out of it. */
export interface Translator {
  /** Reads a caller's body. Throws a BodyError that names the member which is wrong. */
  readRequest(body: JsonObject, losses: Losses): Conversation;
  /** A provider's body. Its model and output cap are the caller's: the pipeline puts in what is sent. */
  writeRequest(conversation: Conversation, losses: Losses, options: TranslationOptions): WrittenRequest;
  /** Reads a provider's answer, whatever it holds; undefined where it is none of this format. */
  readAnswer(answer: JsonObject, exact: ReadExact, notes: TranslationNotes): Answer | undefined;
  /** A caller's answer. */
  writeAnswer(answer: Answer, notes: TranslationNotes): JsonObject;
  openWriter(notes: TranslationNotes): StreamWriter;
  /** The members of a caller's body that an answer repeats, as JSON: numbers go to another thread as they were sent. */
  readonly echoOf?: (body: JsonObject) => string;
}

export interface WrittenRequest extends Pick<TranslationNotes, 'customTools' | 'toolNames'> {
  readonly body: JsonObject;
}
