import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-member.ts';
import { responsesEvents } from './events-of-answer.ts';
import { readResponsesAnswer } from './facts-of-answer.ts';
import { readResponses } from './facts-of-request.ts';
import { responsesEdits } from './layout.ts';
import { RESPONSES_MEMBERS } from './prompt.ts';
import { ResponsesStream } from './stream.ts';
import { responsesStreamError } from './stream-error.ts';

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
