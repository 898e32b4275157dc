import { isJsonObject, type JsonObject } from '../json.ts';

/** Something that a model produced, in the content block (or the piece of one) that holds it. */
export interface Piece {
  /** Which of the texts that a model produces side by side it belongs to. */
  readonly voice: string;
  readonly isReasoning: boolean;
  /** Whether its tokens are to be counted: the length of what is sealed says nothing of them. */
  readonly isCounted: boolean;
  readonly text: string;
  readonly holder: JsonObject;
  readonly member: string;
}

type Kind = Partial<Pick<Piece, 'isReasoning' | 'isCounted'>>;

const SEALED: Kind = { isReasoning: true, isCounted: false };

// By the members' names. The block and the deltas that continue it use the same ones, but for the input of a tool.
const MEMBERS: readonly (readonly [member: string, kind: Kind])[] = [
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
export function piecesOf(block: JsonObject, index: number): Piece[] {
  // What a hosted tool found was not generated.
  const { type } = block;
  if (typeof type === 'string' && type.endsWith('_tool_result')) return [];
  return MEMBERS.flatMap(([member, kind]) => {
    const text = block[member];
    if (typeof text !== 'string' || text === '') return [];
    const voice = `${index} ${member}`;
    return [{ voice, holder: block, member, text, isReasoning: false, isCounted: true, ...kind }];
  });
}

/** The input of a tool that a block states whole, as text; undefined where there is none. */
export function inputOf(block: JsonObject): string | undefined {
  const { input } = block;
  const isStated = isJsonObject(input) ? Object.keys(input).length > 0 : Array.isArray(input);
  return isStated ? JSON.stringify(input) : undefined;
}
