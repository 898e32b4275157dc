import { isUtf8 } from 'node:buffer';
import { REFERENCES } from '@gatehouse/contract';
import { parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { type JsonScan, type MemberSpan, membersIn, type ScanLimits, scanJson } from '../wire/scan-json.ts';
import { BodyError } from './call.ts';

// A value costs many times its bytes once it is parsed (ten million "{}" made a gigabyte of 31 MB), so the values are
// bounded and not only the bytes: no body was found that takes more than 60 bytes for each byte of structure, 24 MB at
// this limit. The largest honest request is one of 300,000 tokens as numbers; an agent's with hundreds of tools has a
// tenth of that.
export const BODY_LIMITS: ScanLimits = { depth: 256, structure: 400_000, members: 256 };

/** A body that was parsed, with the places of its members. */
export interface ParsedBody {
  readonly value: JsonObject;
  readonly bytes: Buffer;
  readonly spans: ReadonlyMap<string, MemberSpan>;
  readonly scan: JsonScan;
}

/** Parses a request body. Throws a BodyError for one that is not JSON, or costs too much to read. */
export function parseBody(bytes: Buffer, parse: typeof parseJson = parseJson): ParsedBody {
  if (!isUtf8(bytes)) throw new BodyError('The body must be UTF-8.');
  const scan = scanJson(bytes, BODY_LIMITS);
  if (scan === 'structure') {
    const message = `The body has more than ${BODY_LIMITS.structure} brackets, commas and colons.`;
    throw new BodyError(message, null, 413);
  }
  if (scan === 'depth') throw new BodyError(`The body is nested deeper than ${BODY_LIMITS.depth} levels.`);
  if (scan === 'members') throw new BodyError(`The body has more than ${BODY_LIMITS.members} members.`);
  const value = parse(bytes.toString());
  if (value === undefined) throw new BodyError('The body is not valid JSON.');
  if (!isJsonObject(value)) throw new BodyError('The body must be a JSON object.');
  return { value, bytes, spans: byName(bytes, scan.members), scan };
}

/**
 * The members by their names, in their order. Of two with one name this gateway would judge the last, and a provider
 * might take the first: so no name may occur twice.
 */
function byName(bytes: Buffer, spans: readonly MemberSpan[]): ReadonlyMap<string, MemberSpan> {
  const named = new Map<string, MemberSpan>();
  for (const span of spans) {
    const name = JSON.parse(bytes.toString('utf8', span.keyStart, span.keyEnd)) as string;
    if (named.has(name)) throw new BodyError(`${shortened(name)} occurs twice.`, shortened(name));
    named.set(name, span);
  }
  return named;
}

function shortened(name: string): string {
  return name.slice(0, 64).toWellFormed();
}

// One walk through all objects of a body, however deep. JSON lets a name stand twice in an object. What is parsed has the last of
// them, and a provider is sent both: so a body with such an object is refused. Its members are then fewer than the colons of
// its text.

/** The references that are one name wherever they stand. */
const NAMES: ReadonlySet<string> = new Set(REFERENCES.map((name) => name.toLowerCase()));
const MIN_REFERENCE_LENGTH = 7;
const MAX_REFERENCE_LENGTH = 16;
const PLAIN_NAME = /^[a-z_]*$/;

/** Members whose contents are the caller's own: schemas, the input of a tool, labels. Only objects: `input` may also be a list of items. */
const CALLERS_OWN: ReadonlySet<string> = new Set([
  ...['parameters', 'input_schema', 'schema', 'json_schema', 'input', 'metadata', 'client_metadata'],
]);

/** The references of a body, each name once. Throws a BodyError that names a member which stands twice. */
export function surveyBody({ value, bytes, scan }: ParsedBody): readonly string[] {
  const references = new Set<string>();
  const own: object[] = [];
  const ofFormat = walk([value], (name, member) => {
    const reference = referenceOf(name, member, value);
    if (reference !== undefined) references.add(reference);
    if (!CALLERS_OWN.has(name) || !isJsonObject(member)) return true;
    own.push(member);
    return false;
  });
  const members = ofFormat + walk(own, () => true);
  if (members !== scan.allMembers) throw repeated(bytes);
  return [...references];
}

/** Visits the members of all objects in these, where `visit` does not say to pass one over. How many there were. */
function walk(open: object[], visit: (name: string, member: unknown) => boolean): number {
  let members = 0;
  for (let holder = open.pop(); holder; holder = open.pop()) {
    if (Array.isArray(holder)) {
      for (const item of holder) if (isObject(item)) open.push(item);
      continue;
    }
    for (const name in holder) {
      const member = (holder as JsonObject)[name];
      members += 1;
      if (visit(name, member) && isObject(member)) open.push(member);
    }
  }
  return members;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The name of the reference that a member is; a stored prompt, container or recording only where it stands as such. */
function referenceOf(name: string, value: unknown, body: JsonObject): string | undefined {
  switch (name) {
    case 'prompt':
      return value === body[name] && hasId(value) ? 'prompt.id' : undefined;
    case 'audio':
      return hasId(value) ? 'audio.id' : undefined;
    case 'container':
      return typeof value === 'string' && isNamed(value) ? name : undefined;
  }
  if (name.length < MIN_REFERENCE_LENGTH || name.length > MAX_REFERENCE_LENGTH) return undefined;
  const folded = PLAIN_NAME.test(name) ? name : name.toLowerCase();
  return NAMES.has(folded) && isNamed(value) ? folded : undefined;
}

function hasId(value: unknown): boolean {
  return isObject(value) && isNamed((value as JsonObject)['id']);
}

/** Null, nothing and no entries name nothing. */
function isNamed(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length > 0
    : value !== null && value !== undefined && value !== '' && value !== false;
}

function repeated(bytes: Buffer): BodyError {
  const path = repeatedMember(bytes);
  return new BodyError(`${path} occurs twice.`, path);
}

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
function repeatedMember(json: Buffer): string {
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
