import type { ProviderFlags, Surface } from '@gatehouse/contract';
import type { Usage } from '../formats/protocol.ts';
import { TOOL } from './probes.ts';
import type { Said } from './said.ts';

// Where an answer is not as the catalogue claims and the format asks. Each has a name for programs.

/** All names, with their meaning. */
export const DIFFERENCES = {
  not_configured: 'there is no credential, or no usable address',
  unreachable: 'no connection, or it ended before the head of an answer',
  timed_out: 'no whole answer within a minute',
  status: 'an error status',
  not_an_answer: 'the answer is none of the format',
  error_in_answer: 'an error inside an answer with status 200',
  content_type: 'the content type is not that of JSON, or of events',
  content_missing: 'neither text nor a tool call',
  stream_missing: 'one document, although a stream was asked for',
  stream_unasked: 'a stream, although none was asked for',
  stream_incomplete: 'the stream ends before its end mark',
  usage_missing: 'no usage, although stream_usage says that it comes',
  usage_zero: 'a usage of nothing for what was sent or generated',
  usage_contradictory: 'totals and parts of the usage disagree',
  usage_implausible: 'a usage of several times what was counted here',
  usage_differs: 'another prompt in the stream than in the document of the same request',
  usage_beyond_cap: 'more was generated than the output cap that was sent',
  finish_missing: 'no reason for the end',
  finish_unknown: 'a reason for the end that the format does not have',
  finish_without_tool_call: 'the end is said to be a tool call, and there is none',
  tool_call_without_finish: 'a tool call, and another reason for the end',
  tool_call_unnamed: 'a tool call without an id, or for a tool that was not offered',
  tool_arguments_invalid: 'the arguments of a tool call are no JSON text of an object',
} as const;

export type Difference = keyof typeof DIFFERENCES;

const FINISHES: Readonly<Partial<Record<Surface, ReadonlySet<string>>>> = {
  chat: new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']),
  completions: new Set(['stop', 'length', 'content_filter']),
  messages: new Set([
    ...['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal'],
    'model_context_window_exceeded',
  ]),
  responses: new Set(['completed', 'incomplete']),
};
const TOOL_FINISH: Readonly<Partial<Record<Surface, string>>> = { chat: 'tool_calls', messages: 'tool_use' };

/** An answer that could be read. */
export interface ReadProbe {
  readonly surface: Surface;
  readonly isStream: boolean;
  readonly streamUsage: ProviderFlags['streamUsage'];
  readonly contentType: string;
  /** The form in which it came. */
  readonly cameAsStream: boolean;
  readonly isComplete: boolean;
  readonly hasContent: boolean;
  readonly hasReasoning: boolean;
  readonly upstreamError: string | null;
  readonly usage: Usage | undefined;
  readonly said: Said;
  readonly saidTotal: number | undefined;
  /** As it was sent. */
  readonly outputCap: number;
  /** As counted here. */
  readonly promptTokens: number;
  readonly generatedTokens: number;
}

export function differencesOf(probe: ReadProbe): Difference[] {
  const { surface, isStream, cameAsStream, upstreamError } = probe;
  const found = new Set<Difference>();
  const expected = cameAsStream ? 'text/event-stream' : 'application/json';
  if (probe.contentType !== expected) found.add('content_type');
  if (isStream && !cameAsStream) found.add('stream_missing');
  if (!isStream && cameAsStream) found.add('stream_unasked');
  if (upstreamError !== null) found.add('error_in_answer');
  if (cameAsStream && !probe.isComplete && upstreamError === null) found.add('stream_incomplete');
  if (surface !== 'count_tokens' && !probe.hasContent && probe.said.calls.length === 0)
    found.add('content_missing');
  for (const one of [...ofUsage(probe), ...ofFinish(probe), ...ofCalls(probe)]) found.add(one);
  return [...found];
}

/** A tokenizer of another family, and what a provider puts around a prompt and its tools. */
const MAX_RATIO = 4;
const FREE_TOKENS = 600;

function ofUsage({ surface, isStream, streamUsage, usage, ...probe }: ReadProbe): Difference[] {
  // Counting tokens uses none.
  if (surface === 'count_tokens') return [];
  if (!usage) return isStream && streamUsage === 'never' ? [] : ['usage_missing'];
  const found: Difference[] = [];
  const { promptTokens, completionTokens, reasoningTokens = 0, isContradictory } = usage;
  const isGenerating = surface !== 'embeddings';
  if (promptTokens === 0 || (isGenerating && completionTokens === 0 && probe.generatedTokens > 0))
    found.push('usage_zero');
  // Some count reasoning beside what was generated, some within it.
  const sum = promptTokens + completionTokens;
  const sums = [sum, sum - reasoningTokens, sum + reasoningTokens];
  if (isContradictory || (probe.saidTotal !== undefined && !sums.includes(probe.saidTotal)))
    found.push('usage_contradictory');
  const isHidden = probe.hasReasoning || reasoningTokens > 0;
  const isFar = (said: number, counted: number) => said > counted * MAX_RATIO + FREE_TOKENS;
  if (
    isFar(promptTokens, probe.promptTokens) ||
    (isGenerating && !isHidden && isFar(completionTokens, probe.generatedTokens))
  )
    found.push('usage_implausible');
  if (isGenerating && completionTokens > probe.outputCap) found.push('usage_beyond_cap');
  return found;
}

function ofFinish({ surface, said: { finish, calls } }: ReadProbe): Difference[] {
  const known = FINISHES[surface];
  if (!known) return [];
  if (finish === undefined) return ['finish_missing'];
  if (!known.has(finish)) return ['finish_unknown'];
  const ofTools = TOOL_FINISH[surface];
  if (finish === ofTools && calls.length === 0) return ['finish_without_tool_call'];
  const isCut = finish === 'length' || finish === 'max_tokens';
  return ofTools !== undefined && finish !== ofTools && calls.length > 0 && !isCut
    ? ['tool_call_without_finish']
    : [];
}

function ofCalls({ said: { finish, calls } }: ReadProbe): Difference[] {
  const isCut = finish === 'length' || finish === 'max_tokens' || finish === 'incomplete';
  const found: Difference[] = [];
  if (calls.some(({ id, name }) => id === '' || name !== TOOL)) found.push('tool_call_unnamed');
  if (!isCut && calls.some((call) => !isObjectText(call.arguments))) found.push('tool_arguments_invalid');
  return found;
}

function isObjectText(text: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The same prompt is as long in a stream as it is in a document. */
export function isSamePrompt(one: Usage, other: Usage): boolean {
  return (
    Math.abs(one.promptTokens - other.promptTokens) <= 2 + Math.max(one.promptTokens, other.promptTokens) / 20
  );
}
