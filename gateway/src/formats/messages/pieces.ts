import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { AnswerTally, SpokenKind } from '../answer-tally.ts';

const SEALED: SpokenKind = { isReasoning: true, isCounted: false };

// By the members' names. The block and the deltas that continue it use the same ones, but for the input of a tool.
const MEMBERS: readonly (readonly [member: string, kind: SpokenKind])[] = [
  ['text', {}],
  ['thinking', { isReasoning: true }],
  ['signature', SEALED],
  ['data', SEALED],
  ['name', {}],
  ['partial_json', {}],
  // The summary that takes the place of a long conversation.
  ['content', {}],
];

/** Takes note of what a model produced in a content block, or in a delta of one. */
export function hearBlock(tally: AnswerTally, block: unknown, position: unknown): void {
  if (!isJsonObject(block)) return;
  const { type, input } = block;
  if (isStated(input)) tally.hear(voiceOf(position, 'input'), JSON.stringify(input));
  // What a hosted tool found was not generated.
  if (typeof type === 'string' && type.endsWith('_tool_result')) return;
  for (const [member, kind] of MEMBERS) {
    const text = block[member];
    if (typeof text === 'string' && text !== '') tally.hear(voiceOf(position, member), text, kind);
  }
}

/** The text that a member of the block at this place continues. */
export function voiceOf(position: unknown, member: string): string {
  return `${typeof position === 'number' ? position : 0} ${member}`;
}

/** True for the input of a tool that a block states whole. */
function isStated(input: unknown): input is JsonObject | readonly unknown[] {
  return isJsonObject(input) ? Object.keys(input).length > 0 : Array.isArray(input);
}
