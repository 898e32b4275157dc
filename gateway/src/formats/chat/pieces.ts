import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { GeneratedPiece, PieceKind } from '../generated-piece.ts';

/**
 * The pieces that a model produced in a message (or, in a stream, in a piece of one): text, reasoning, a refusal, the calls of tools, the
 * words of audio. Without those that are empty.
 */
function piecesOf(message: JsonObject, choice: number): GeneratedPiece[] {
  const pieces: GeneratedPiece[] = [];
  const add = (voice: string, holder: JsonObject, member: string, kind: PieceKind = {}) => {
    const text = holder[member];
    if (typeof text !== 'string' || text === '') return;
    pieces.push({
      voice: `${choice} ${voice}`,
      text,
      isReasoning: false,
      isCounted: true,
      ...kind,
    });
  };
  add('content', message, 'content');
  addParts(message['content'], (part) => {
    add('content', part, 'text');
    addParts(part['thinking'], (thought) => add('reasoning', thought, 'text', { isReasoning: true }));
  });
  addReasoning(message, add);
  add('refusal', message, 'refusal');
  if (isJsonObject(message['audio'])) add('audio', message['audio'], 'transcript');
  const addFunction = (voice: string, call: unknown) => {
    if (!isJsonObject(call)) return;
    add(`${voice} name`, call, 'name');
    add(`${voice} arguments`, call, 'arguments');
  };
  addFunction('function', message['function_call']);
  addParts(message['tool_calls'], (call, position) => {
    const index = typeof call['index'] === 'number' ? call['index'] : position;
    addFunction(`tool ${index}`, call['function']);
  });
  return pieces;
}

/** The pieces that a model produced in a choice of an answer, or of a chunk of one. */
export type PiecesOfChoice = (choice: JsonObject, index: number) => GeneratedPiece[];

export const piecesOfMessage: PiecesOfChoice = ({ message }, index) =>
  isJsonObject(message) ? piecesOf(message, index) : [];

export const piecesOfDelta: PiecesOfChoice = ({ delta }, index) =>
  isJsonObject(delta) ? piecesOf(delta, index) : [];

/** Three names for one thing; servers that send several of them send the same text in each. */
function addReasoning(
  message: JsonObject,
  add: (voice: string, holder: JsonObject, member: string, kind: PieceKind) => void,
): void {
  let isCounted = true;
  for (const name of ['reasoning_content', 'reasoning'] as const) {
    add(name, message, name, { isReasoning: true, isCounted });
    if (typeof message[name] === 'string' && message[name] !== '') isCounted = false;
  }
  addParts(message['reasoning_details'], (detail, position) => {
    for (const name of ['text', 'summary']) {
      add(`reasoning ${position} ${name}`, detail, name, { isReasoning: true, isCounted });
    }
    // Sealed: its length says nothing of the tokens.
    add(`reasoning ${position} data`, detail, 'data', { isReasoning: true, isCounted: false });
  });
}

function addParts(value: unknown, add: (part: JsonObject, position: number) => void): void {
  if (!Array.isArray(value)) return;
  value.forEach((part: unknown, position) => {
    if (isJsonObject(part)) add(part, position);
  });
}
