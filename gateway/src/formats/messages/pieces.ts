import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { GeneratedPiece, PieceKind } from '../generated-piece.ts';

const SEALED: PieceKind = { isReasoning: true, isCounted: false };

// By the members' names. The block and the deltas that continue it use the same ones, but for the input of a tool.
const MEMBERS: readonly (readonly [member: string, kind: PieceKind])[] = [
  ['text', {}],
  ['thinking', { isReasoning: true }],
  ['signature', SEALED],
  ['data', SEALED],
  ['name', {}],
  ['partial_json', {}],
  // The summary that takes the place of a long conversation.
  ['content', {}],
];

/** The texts that a model produced in a content block or in a delta of one, without those that are empty. */
export function piecesOf(block: JsonObject, index: number): GeneratedPiece[] {
  // What a hosted tool found was not generated.
  const { type } = block;
  if (typeof type === 'string' && type.endsWith('_tool_result')) return [];
  return MEMBERS.flatMap(([member, kind]) => {
    const text = block[member];
    if (typeof text !== 'string' || text === '') return [];
    const voice = `${index} ${member}`;
    return [{ voice, text, isReasoning: false, isCounted: true, ...kind }];
  });
}

/** The input of a tool that a block states whole, as text; undefined where there is none. */
export function inputOf(block: JsonObject): string | undefined {
  const { input } = block;
  const isStated = isJsonObject(input) ? Object.keys(input).length > 0 : Array.isArray(input);
  return isStated ? JSON.stringify(input) : undefined;
}
