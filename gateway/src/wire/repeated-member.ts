import { type MemberSpan, membersIn } from './scan-json.ts';

// The place where a member stands twice in an object. Only a text of which that is known is looked at, so this may take its time.

const MAX_NAME_LENGTH = 64;
const MAX_PATH_LENGTH = 256;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** An object or a list in which the text is looked through, and how far. */
interface Level {
  /** The names of an object so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  readonly members: readonly MemberSpan[];
  readonly start: number;
  name: string;
  index: number;
}

/** The path of the first member whose name its object has already, as `messages[0].role`. The text must be valid JSON. */
export function repeatedMember(json: Buffer): string {
  const levels: Level[] = [levelAt(json, 0, json.length)];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    level.index += 1;
    const span = level.members[level.index];
    if (!span) {
      levels.pop();
      continue;
    }
    if (level.names) {
      level.name = JSON.parse(json.toString('utf8', level.start + span.keyStart, level.start + span.keyEnd));
      if (level.names.has(level.name)) return pathOf(levels);
      level.names.add(level.name);
    }
    const [start, end] = [level.start + span.valueStart, level.start + span.valueEnd];
    if (json[start] === OPEN_OBJECT || json[start] === OPEN_ARRAY) levels.push(levelAt(json, start, end));
  }
  throw new Error('no member stands twice');
}

function levelAt(json: Buffer, start: number, end: number): Level {
  const members = membersIn(json.subarray(start, end));
  // An element of a list has no key.
  const isObject = members.some(({ keyStart, keyEnd }) => keyEnd > keyStart);
  return { names: isObject ? new Set() : undefined, members, start, name: '', index: -1 };
}

function pathOf(levels: readonly Level[]): string {
  let path = '';
  for (const { names, name, index } of levels) {
    if (!names) path += `[${index}]`;
    else path += `${path === '' ? '' : '.'}${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}`;
  }
  // The end of a long path says more than its beginning.
  return path.length > MAX_PATH_LENGTH ? `…${path.slice(-MAX_PATH_LENGTH).toWellFormed()}` : path;
}
