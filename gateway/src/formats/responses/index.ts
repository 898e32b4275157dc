import type { GatewayError } from '../../errors/gateway-error.ts';
import { AnswerStream } from '../answer-stream.ts';
import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-figures.ts';
import { responsesEvents } from './events-of-answer.ts';
import { readResponses, responsesEdits } from './facts-of-request.ts';
import { RESPONSES_MEMBERS } from './members.ts';
import { readAnswer, readResponsesAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { ResponsesReader } from './read-stream.ts';
import { echoOf, writeAnswer } from './response-object.ts';
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

/**
 * The end of a stream that the gateway ends. OpenAI's SDKs and the AI SDK read the `error` event; Codex goes by
 * `response.failed` and takes a stream without it for a broken connection.
 */
function responsesStreamError(error: GatewayError, requestId: string): Buffer {
  const { type, code, message } = error;
  const failure = { type, code, message, param: null };
  return Buffer.from(
    [
      { type: 'error', sequence_number: 0, code, message, param: null, error: failure },
      {
        type: 'response.failed',
        sequence_number: 0,
        response: {
          id: `resp_${requestId.replaceAll('-', '')}`,
          object: 'response',
          status: 'failed',
          error: { code, message },
          incomplete_details: null,
          output: [],
          usage: null,
        },
      },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  );
}
