import { REFERENCES } from '@gatehouse/contract';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { repeatedMember } from '../wire/repeated-member.ts';
import type { ParsedBody } from './parse-body.ts';
import { BodyError } from './request-facts.ts';

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
