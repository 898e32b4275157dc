import { AnswerStream } from '../answer-stream.ts';
import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-figures.ts';
import { responsesEvents } from './events-of-answer.ts';
import { readResponses } from './facts-of-request.ts';
import { responsesEdits } from './layout.ts';
import { RESPONSES_MEMBERS } from './members.ts';
import { readAnswer, readResponsesAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { ResponsesReader } from './read-stream.ts';
import { echoOf, writeAnswer } from './response-object.ts';
import { responsesStreamError } from './stream-error.ts';
import { ResponsesStreamWriter } from './stream-writer.ts';
import { writeRequest } from './write-request.ts';

/** OpenAI's Responses API. */
export const responses: Format = {
  surface: 'responses',
  dialect: 'openai',
  members: RESPONSES_MEMBERS,
  readRequest: readResponses,
  upstreamEdits: responsesEdits,
  readAnswer: readResponsesAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: ({ redaction }, translated) =>
    new AnswerStream((tally) => new ResponsesReader(tally, translated), redaction, translated),
  eventsOf: responsesEvents,
  streamError: responsesStreamError,
  translator: {
    readRequest,
    writeRequest,
    readAnswer,
    writeAnswer,
    openWriter: (notes) => new ResponsesStreamWriter(notes),
    echoOf,
  },
};
