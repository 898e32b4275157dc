import type { Translator } from '../translation/translator.ts';
import { readAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { echoOf } from './response-object.ts';
import { ResponsesStreamWriter } from './stream-writer.ts';
import { writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';

/** The Responses API of OpenAI, which Codex speaks. */
export const RESPONSES: Translator = {
  readRequest,
  writeRequest,
  readAnswer,
  writeAnswer,
  openWriter: (notes) => new ResponsesStreamWriter(notes),
  echoOf,
};
