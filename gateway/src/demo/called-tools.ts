import { parseBounded } from '../formats/translation/bounded-json.ts';
import { InputPieces } from '../formats/translation/tool-input.ts';
import { parseJson } from '../wire/answer-json.ts';
import { isJsonObject } from '../wire/json.ts';
import type { EchoConversation, EchoTool } from './conversation.ts';
import { type SmallestBounds, smallestJson } from './smallest-json.ts';

const MAX_CALLS = 8;
/** A tool of a namespace has its own name after this. */
const NAMESPACE_END = '__';
const ASKS = /Call the tool ([\w.:-]{1,128}) with (?=\{)/g;

/** A tool that the echo calls. */
export interface CalledTool {
  readonly tool: EchoTool;
  /** JSON, or the text for a custom tool. */
  readonly input: string;
}

export interface CalledTools {
  readonly calls: readonly CalledTool[];
  /** True if the bounds were too small for an input that fits. */
  readonly isExhausted: boolean;
}

/** The tools that the text asks for, of those that are declared: `Call the tool NAME with {json}`. */
export function calledTools(
  text: string,
  { tools, toolChoice, isOneCallAtMost }: EchoConversation,
  bounds: SmallestBounds,
): CalledTools {
  if (toolChoice === 'none') return { calls: [], isExhausted: false };
  const calls: CalledTool[] = [];
  for (const match of text.matchAll(ASKS).take(MAX_CALLS)) {
    const tool = tools.find(({ name }) => name === match[1] || name.endsWith(`${NAMESPACE_END}${match[1]}`));
    const json = tool && objectAt(text, match.index + match[0].length);
    if (tool && json !== undefined) calls.push({ tool, input: inputOf(tool, json) });
  }
  if (isOneCallAtMost) calls.splice(1);
  if (calls.length > 0 || toolChoice === undefined) return { calls, isExhausted: false };
  const forced = tools.find(({ name }) => toolChoice === 'required' || toolChoice.name === name);
  if (!forced) return { calls, isExhausted: false };
  if (forced.isCustom) return { calls: [{ tool: forced, input: text }], isExhausted: false };
  const { text: input, isExhausted } = smallestJson(forced.schema, bounds);
  return { calls: [{ tool: forced, input: input === 'null' ? '{}' : input }], isExhausted };
}

/** A custom tool takes text: the member `input` of the JSON, else the JSON itself. */
function inputOf({ isCustom }: EchoTool, json: string): string {
  const value = isCustom ? parseJson(json) : undefined;
  return isJsonObject(value) && typeof value['input'] === 'string' ? value['input'] : json;
}

/** The JSON object that begins here; undefined where none does. */
function objectAt(text: string, start: number): string | undefined {
  const pieces = new InputPieces();
  const json = pieces.add(text.slice(start));
  return pieces.isComplete && isJsonObject(parseBounded(json)) ? json : undefined;
}
