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
import { RESPONSES } from '../responses/translator.ts';
import type { TranslatedFormat } from './feature-table.ts';
import type { Translator } from './translator.ts';

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

/** The formats that are translated into each other. */
export const TRANSLATORS: Readonly<Record<TranslatedFormat, Translator>> = {
  chat,
  messages,
  responses: RESPONSES,
};
