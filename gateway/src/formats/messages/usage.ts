import { isJsonObject } from '../../wire/json.ts';
import { messageFigures } from '../peculiarities/usage-names.ts';
import type { Usage } from '../protocol.ts';
import { type StatedUsage, serverToolCalls, usageOf } from '../usage-figures.ts';

// Anthropic counts the prompt in three disjoint parts: what was read afresh, what a cache served, and what was written to
// one. A stream states them in `message_start` and, with the output, in `message_delta`; each figure is the total so far.

type Figures = ReturnType<typeof messageFigures>;

/** Merges the usage objects of an answer, in the order in which they come. */
export class UsageTally {
  #figures: Figures = {};
  #calls: StatedUsage['calls'];
  #compactions: readonly Figures[] = [];

  /** Takes the next one; whether it says how much was generated. What is no count is passed over. */
  add(value: unknown): boolean {
    if (!isJsonObject(value)) return false;
    const figures = messageFigures(value);
    this.#figures = merged(this.#figures, figures);
    this.#calls = serverToolCalls(value['server_tool_use']) ?? this.#calls;
    const { iterations } = value;
    if (Array.isArray(iterations)) this.#compactions = iterations.flatMap(compactionOf);
    return figures.completion !== undefined;
  }

  /** Undefined until both the prompt and the output were stated. */
  get usage(): Usage | undefined {
    const message = usageOf(stated(this.#figures, this.#calls));
    return message && this.#compactions.reduce((sum, one) => withCompaction(sum, one), message);
  }
}

/** The usage of a message that came whole; undefined when it does not state both the prompt and the output. */
export function readUsage(value: unknown): Usage | undefined {
  const tally = new UsageTally();
  tally.add(value);
  return tally.usage;
}

function merged(before: Figures, next: Figures): Figures {
  const { prompt, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h, ...output } = next;
  // Some servers state the prompt at the start and zeros at the end. No prompt is empty.
  if (sumOfPrompt(next) === 0 && sumOfPrompt(before) > 0) return { ...before, ...output };
  const isSplit = cacheWrite5m !== undefined || cacheWrite1h !== undefined;
  if (cacheWrite === undefined || isSplit) return { ...before, ...next };
  // A new total without its parts: the tokens that it adds are not known to be kept for an hour.
  const { cacheWrite5m: _, ...kept } = before;
  return { ...(cacheWrite === before.cacheWrite ? before : kept), ...next };
}

function sumOfPrompt({
  prompt = 0,
  cacheRead = 0,
  cacheWrite = 0,
  cacheWrite5m = 0,
  cacheWrite1h = 0,
}: Figures) {
  return prompt + cacheRead + cacheWrite + cacheWrite5m + cacheWrite1h;
}

function stated(figures: Figures, calls?: StatedUsage['calls']): StatedUsage {
  const { prompt, completion, ...parts } = figures;
  return { prompt, completion, promptCovers: 'uncached', ...parts, calls };
}

function compactionOf(iteration: unknown): Figures[] {
  return isJsonObject(iteration) && iteration['type'] === 'compaction' ? [messageFigures(iteration)] : [];
}

/** A compaction of the conversation is billed, and the totals of the message leave it out. */
function withCompaction(sum: Usage, figures: Figures): Usage {
  const compaction = usageOf(stated(figures));
  if (!compaction) return sum;
  const added = (name: Total) => {
    const [one, other] = [sum[name], compaction[name]];
    if (one === undefined && other === undefined) return {};
    return { [name]: Math.min((one ?? 0) + (other ?? 0), Number.MAX_SAFE_INTEGER) };
  };
  const totals: Partial<Usage> = Object.assign({}, ...TOTALS.map(added));
  return { ...sum, ...totals, ...(compaction.isContradictory && { isContradictory: true }) };
}

type Total = Exclude<keyof Usage, 'calls' | 'isContradictory'>;
const TOTALS: readonly Total[] = [
  'promptTokens',
  'completionTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
];
