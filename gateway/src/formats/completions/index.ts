import { textOf } from '../../wire/json.ts';
import { AnswerStream } from '../answer-stream.ts';
import { bodyEdits } from '../body-layout.ts';
import { completionEvents } from '../chat/events-of-answer.ts';
import { chat } from '../chat/index.ts';
import { type ReadPiece, SILENCE } from '../chat/pieces.ts';
import { readChatAnswer } from '../chat/read-answer.ts';
import { ChatReader } from '../chat/read-stream.ts';
import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-figures.ts';
import { readCompletions } from './facts-of-request.ts';
import { COMPLETIONS_MEMBERS } from './members.ts';

const CAP = ['max_tokens'] as const;

const readText: ReadPiece = ({ text }) => ({ ...SILENCE, text: textOf(text) });

/** OpenAI's text completions: the chat's answers, with a text in place of a message. */
export const completions: Format = {
  surface: 'completions',
  dialect: 'openai',
  members: COMPLETIONS_MEMBERS,
  readRequest: readCompletions,
  // This endpoint knows one name of the cap, whatever the provider's chat reads.
  upstreamEdits: (layout, target) => bodyEdits(layout, target, { known: CAP, sent: CAP }),
  readAnswer: (body) => readChatAnswer(body, readText),
  openUsage: () => new UsageMember(readUsage),
  openStream: (options) =>
    new AnswerStream(
      (tally) => new ChatReader(tally, options, undefined, readText),
      options.redaction,
      undefined,
    ),
  eventsOf: completionEvents,
  streamError: chat.streamError,
};
