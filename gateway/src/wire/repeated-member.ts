// Where a member stands twice in an object. Only a text of which that is known is looked at, so this may take its time.

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const MAX_NAME_LENGTH = 64;
const MAX_PATH_LENGTH = 256;

/** An object or a list that has begun, and where in it the text is. */
interface Level {
  /** The names of an object so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
  isName: boolean;
}

/** The path of the first member whose name its object has already, as `messages[0].role`. The text must be valid JSON. */
export function repeatedMember(json: Buffer): string {
  const levels: Level[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const level = levels.at(-1);
    switch (json[at]) {
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        levels.push({
          names: json[at] === OPEN_OBJECT ? new Set() : undefined,
          name: '',
          index: 0,
          isName: true,
        });
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        levels.pop();
        break;
      case COMMA:
        if (level) Object.assign(level, { index: level.index + 1, isName: true });
        break;
      case QUOTE: {
        const start = at;
        for (at += 1; at < json.length && json[at] !== QUOTE; at += 1) if (json[at] === BACKSLASH) at += 1;
        if (!level?.names || !level.isName) break;
        level.name = JSON.parse(json.toString('utf8', start, at + 1));
        level.isName = false;
        if (level.names.has(level.name)) return pathOf(levels);
        level.names.add(level.name);
      }
    }
  }
  throw new Error('no member stands twice');
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
