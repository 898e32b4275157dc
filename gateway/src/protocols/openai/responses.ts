import type { Format } from '../format.ts';
import { UsageMember } from '../usage-member.ts';
import { readResponses } from './read-responses.ts';
import { readResponsesAnswer } from './responses-answer.ts';
import { responsesStreamError } from './responses-error.ts';
import { responsesEdits } from './responses-layout.ts';
import { ResponsesStream } from './responses-stream.ts';
import { readResponsesUsage } from './usage.ts';

const COMMON_MEMBERS = new Set([
  ...['model', 'input', 'instructions', 'max_output_tokens', 'stream', 'temperature', 'top_p', 'text'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'include', 'store'],
]);

/** OpenAI's Responses API. */
export const responses: Format = {
  surface: 'responses',
  dialect: 'openai',
  commonMembers: COMMON_MEMBERS,
  readRequest: readResponses,
  upstreamEdits: responsesEdits,
  readAnswer: readResponsesAnswer,
  openUsage: () => new UsageMember(readResponsesUsage),
  openStream: (options) => new ResponsesStream(options),
  streamError: responsesStreamError,
};
