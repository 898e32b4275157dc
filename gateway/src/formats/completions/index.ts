import { textOf } from '../../wire/json.ts';
import { AnswerStream } from '../answer-stream.ts';
import { bodyEdits, layoutOf } from '../body-layout.ts';
import { completionEvents } from '../chat/events-of-answer.ts';
import { usageEdits } from '../chat/facts-of-request.ts';
import { chat } from '../chat/index.ts';
import { type ReadPiece, SILENCE } from '../chat/pieces.ts';
import { readChatAnswer } from '../chat/read-answer.ts';
import { ChatReader } from '../chat/read-stream.ts';
import type { EndpointReading, Format } from '../format.ts';
import { asksForUsage, memberTable, readCount, readFlag, readOptional } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { PromptParts } from '../prompt-parts.ts';
import { addTokenInput } from '../token-input.ts';
import { UsageMember } from '../usage-figures.ts';

/** The members of `POST /v1/completions`. */
const COMPLETIONS_MEMBERS = memberTable({
  model: ['common', 'judged', 'counted'],
  prompt: ['common', 'judged', 'counted'],
  suffix: ['common', 'judged', 'read'],
  stream: ['common', 'judged'],
  max_tokens: ['common', 'judged'],
  temperature: ['common'],
  top_p: ['common'],
  stop: ['common'],
  n: ['common', 'judged'],
  frequency_penalty: ['common'],
  presence_penalty: ['common'],
  echo: ['common'],
  logprobs: ['common'],
  best_of: ['common', 'judged'],
  seed: ['common'],
  stream_options: ['setting', 'judged'],
  user: ['setting'],
});

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

const MAX_CHOICES = 128;

/**
 * The cap of OpenAI for a completion that names none. The route's default is not sent in its place: a caller that expects a few words would
 * get, and pay for, thousands.
 */
const DEFAULT_CAP = 16;

/** Reads the body of `POST /v1/completions`. What the gateway has no stake in is left to the upstream. */
function readCompletions(body: ParsedBody): EndpointReading {
  const { value } = body;
  COMPLETIONS_MEMBERS.checkNames(body.spans.keys());
  const parts = new PromptParts();
  const prompts = addTokenInput(parts, 'prompt', value['prompt'] ?? START_OF_A_DOCUMENT);
  readOptional<string>(value, 'suffix', 'text', (text) => typeof text === 'string');
  COMPLETIONS_MEMBERS.addTo(parts, value);
  const { overheadTokens, texts } = parts.size;
  const isStream = readFlag(value, 'stream');
  const showsUsage = asksForUsage(value);
  const shown = readCount(value, 'n', { most: MAX_CHOICES }) ?? 1;
  const generated = Math.max(shown, readCount(value, 'best_of', { most: MAX_CHOICES }) ?? 1);
  // None at all is for a caller that wants the likelihoods of its own prompt.
  const outputCap = readCount(value, 'max_tokens', { least: 0 });
  return {
    facts: {
      isStream,
      choices: prompts * generated,
      outputCap: outputCap ?? DEFAULT_CAP,
      showsUsage,
      uncountableParts: [],
      toolTypes: [],
      layout: layoutOf(body, isStream ? usageEdits(body) : []),
    },
    overheadTokens,
    texts,
  };
}

/** The text that stands for a prompt that is left out. */
const START_OF_A_DOCUMENT = '<|endoftext|>';
