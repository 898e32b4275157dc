// One pass over the bytes of a JSON text before anything is parsed. It bounds what the text can become in memory,
// and it notes where the members of the outermost object (or the elements of the outermost list) lie, so that some of them
// can be replaced later while every other byte stays as it was sent.

export interface ScanLimits {
  /** Arrays and objects within each other. */
  readonly depth: number;
  /** The number of `{ } [ ] , :` outside strings: each stands for a value, and a value costs many times its bytes. */
  readonly structure: number;
  /** Members of the outermost object. Of the elements of an outermost list as many are found, and more are no fault. */
  readonly members: number;
}

/** The place of a member: its key with the quotes, empty for an element of a list, and its value. Byte positions; the ends are exclusive. */
export interface MemberSpan {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface JsonScan {
  /** The members of the outermost object, or the elements of the outermost list, in order; none when the text is something else. */
  readonly members: readonly MemberSpan[];
  /** The number of `{ } [ ] , :` outside strings. */
  readonly structure: number;
  /** The members of all objects, however deep. */
  readonly allMembers: number;
  /** The bytes of numbers beyond those that a number needs: once parsed, they are not seen. */
  readonly excessDigits: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const NONE = -1;
/** A double, a 64-bit integer, and some digits more. */
const MAX_NUMBER_LENGTH = 32;

const LITERAL = new Uint8Array(256);
for (const character of '+-.0123456789Eabcdefghijklmnopqrstuvwxyz') LITERAL[character.charCodeAt(0)] = 1;

/**
 * The scan, or the name of the first limit that the text is over. A text that is not valid JSON gets some answer and
 * is refused by the parser: the spans mean something only after the text was parsed.
 */
export function scanJson(json: Uint8Array, limits: ScanLimits): JsonScan | keyof ScanLimits {
  const members: MemberSpan[] = [];
  let depth = 0;
  let structure = 0;
  let allMembers = 0;
  let excessDigits = 0;
  let keyStart = NONE;
  let keyEnd = NONE;
  let valueStart = NONE;
  let isAfterColon = false;
  let isList = false;
  // Just past the last byte that was not white space.
  let end = 0;

  const closeMember = () => {
    if (valueStart !== NONE) {
      if (isList) {
        if (members.length < limits.members)
          members.push({ keyStart: valueStart, keyEnd: valueStart, valueStart, valueEnd: end });
      } else if (keyStart !== NONE) members.push({ keyStart, keyEnd, valueStart, valueEnd: end });
    }
    keyStart = NONE;
    valueStart = NONE;
    isAfterColon = false;
  };

  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    // Space, tab, line feed, carriage return.
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    if (depth === 1 && valueStart === NONE) {
      if (isList ? byte !== COMMA && byte !== CLOSE_ARRAY : isAfterColon) valueStart = at;
    }
    switch (byte) {
      case QUOTE: {
        const start = at;
        for (at += 1; at < json.length && json[at] !== QUOTE; at += 1) {
          if (json[at] === BACKSLASH) at += 1;
        }
        if (depth === 1 && !isAfterColon && keyStart === NONE && !isList) {
          keyStart = start;
          keyEnd = at + 1;
        }
        break;
      }
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        structure += 1;
        if (depth === 0) isList = byte === OPEN_ARRAY;
        depth += 1;
        if (depth > limits.depth) return 'depth';
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        structure += 1;
        if (depth === 1) closeMember();
        depth -= 1;
        break;
      case COMMA:
        structure += 1;
        if (depth === 1) closeMember();
        break;
      case COLON:
        structure += 1;
        allMembers += 1;
        if (depth === 1) isAfterColon = true;
        break;
      default: {
        const start = at;
        while (isLiteral(json[at + 1])) at += 1;
        if (at - start >= MAX_NUMBER_LENGTH) excessDigits += at + 1 - start - MAX_NUMBER_LENGTH;
      }
    }
    end = at + 1;
    if (structure > limits.structure) return 'structure';
    if (members.length > limits.members) return 'members';
  }
  return { members, structure, allMembers, excessDigits };
}

const NO_LIMITS: ScanLimits = { depth: Infinity, structure: Infinity, members: Infinity };

/** The places of the members of an object, or of the elements of a list, in a text that is known to be valid. */
export function membersIn(json: Uint8Array): readonly MemberSpan[] {
  const scan = scanJson(json, NO_LIMITS);
  return typeof scan === 'string' ? [] : scan.members;
}

/** True if the byte is one of a number, or of `true`, `false` and `null`. */
function isLiteral(byte: number | undefined): boolean {
  return byte !== undefined && LITERAL[byte] === 1;
}
