import { bodyEdits } from '../body-layout.ts';
import { completionEvents } from '../chat/events-of-answer.ts';
import { readChatAnswer } from '../chat/facts-of-answer.ts';
import { chat } from '../chat/index.ts';
import type { PiecesOfChoice } from '../chat/pieces.ts';
import { ChatStream } from '../chat/stream.ts';
import type { Format } from '../format.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { UsageMember } from '../usage-member.ts';
import { COMPLETIONS_MEMBERS, readCompletions } from './facts-of-request.ts';

const CAP = ['max_tokens'] as const;

const piecesOf: PiecesOfChoice = (choice, index) => {
  const { text } = choice;
  if (typeof text !== 'string' || text === '') return [];
  return [{ voice: String(index), text, isReasoning: false, isCounted: true }];
};

/** OpenAI's text completions: the chat's answers, with a text in place of a message. */
export const completions: Format = {
  surface: 'completions',
  dialect: 'openai',
  commonMembers: COMPLETIONS_MEMBERS,
  readRequest: readCompletions,
  // This endpoint knows one name of the cap, whatever the provider's chat reads.
  upstreamEdits: (layout, target) => bodyEdits(layout, target, { known: CAP, sent: CAP }),
  readAnswer: (body) => readChatAnswer(body, piecesOf),
  openUsage: () => new UsageMember(readUsage),
  openStream: (options) => new ChatStream(options, piecesOf),
  eventsOf: completionEvents,
  streamError: chat.streamError,
};
