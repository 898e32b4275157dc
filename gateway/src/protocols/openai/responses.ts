import type { Format } from '../format.ts';
import { UsageMember } from '../usage-member.ts';
import { readResponses } from './read-responses.ts';
import { readResponsesAnswer } from './responses-answer.ts';
import { responsesStreamError } from './responses-error.ts';
import { responsesEvents } from './responses-events.ts';
import { responsesEdits } from './responses-layout.ts';
import { RESPONSES_MEMBERS } from './responses-prompt.ts';
import { ResponsesStream } from './responses-stream.ts';
import { readUsage } from './usage.ts';

/** OpenAI's Responses API. */
export const responses: Format = {
  surface: 'responses',
  dialect: 'openai',
  commonMembers: RESPONSES_MEMBERS,
  readRequest: readResponses,
  upstreamEdits: responsesEdits,
  readAnswer: readResponsesAnswer,
  openUsage: () => new UsageMember(readUsage),
  openStream: (options) => new ResponsesStream(options),
  eventsOf: responsesEvents,
  streamError: responsesStreamError,
};
