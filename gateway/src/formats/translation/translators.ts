import type { ReadExact } from '../../wire/exact-json.ts';
import type { JsonObject } from '../../wire/json.ts';
import { readAnswer as readChatAnswer } from '../chat/read-answer.ts';
import { readRequest as readChatRequest } from '../chat/read-request.ts';
import { ChatStreamWriter } from '../chat/stream-writer.ts';
import { writeAnswer as writeChatAnswer } from '../chat/write-answer.ts';
import { writeRequest as writeChatRequest } from '../chat/write-request.ts';
import { readAnswer as readMessagesAnswer } from '../messages/read-answer.ts';
import { readRequest as readMessagesRequest } from '../messages/read-request.ts';
import { MessagesStreamWriter } from '../messages/stream-writer.ts';
import { writeAnswer as writeMessagesAnswer } from '../messages/write-answer.ts';
import { writeRequest as writeMessagesRequest } from '../messages/write-request.ts';
import { readAnswer } from '../responses/read-answer.ts';
import { readRequest } from '../responses/read-request.ts';
import { echoOf, writeAnswer } from '../responses/response-object.ts';
import { ResponsesStreamWriter } from '../responses/stream-writer.ts';
import { writeRequest } from '../responses/write-request.ts';
import type { Answer } from './answer.ts';
import type { Conversation } from './conversation.ts';
import type { TranslatedFormat } from './feature-table.ts';
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

const chat: Translator = {
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  readAnswer: readChatAnswer,
  writeAnswer: writeChatAnswer,
  openWriter: (notes) => new ChatStreamWriter(notes),
};

const messages: Translator = {
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  readAnswer: readMessagesAnswer,
  writeAnswer: writeMessagesAnswer,
  openWriter: (notes) => new MessagesStreamWriter(notes),
};

/** The Responses API of OpenAI, which Codex speaks. */
const responses: Translator = {
  readRequest,
  writeRequest,
  readAnswer,
  writeAnswer,
  openWriter: (notes) => new ResponsesStreamWriter(notes),
  echoOf,
};

/** The formats that are translated into each other. */
export const TRANSLATORS: Readonly<Record<TranslatedFormat, Translator>> = {
  chat,
  messages,
  responses,
};
