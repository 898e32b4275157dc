import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { BodyError } from './call.ts';
import type { PromptParts } from './prompt-parts.ts';
import type { Feature } from './translation/feature-table.ts';
import type { Losses } from './translation/losses.ts';

/**
 * The traits of a member of a body. `common`: every provider of the format takes it; a provider with strict fields is sent no others.
 * `setting`: a short value of it is no part of a prompt, as none of a common member is. `judged`: the gateway goes by it. `counted`: the
 * prompt has a rule for it. `read`: a model reads it, and it counts as text without its name. `translated`: the reader of a translation knows it. A feature: a translation loses that with it.
 */
type Trait = 'common' | 'setting' | 'judged' | 'counted' | 'read' | 'translated' | Feature;

/** The members of a format's body, each named once. */
export interface MemberTable {
  readonly common: ReadonlySet<string>;
  readonly translated: readonly string[];
  /** Refuses a judged member that is written in another case: some providers read names without regard to it. */
  checkNames(names: Iterable<string>): void;
  /** Counts the members that are counted as they are. */
  addTo(parts: PromptParts, body: JsonObject): void;
  /** Tells what a translation loses with the members as such. */
  lose(body: JsonObject, losses: Losses): void;
}

export function memberTable(traits: Readonly<Record<string, readonly Trait[]>>): MemberTable {
  const namesOf = (...wanted: readonly Trait[]) =>
    Object.keys(traits).filter((name) => traits[name]?.some((trait) => wanted.includes(trait)));
  const judged = new Set(namesOf('judged'));
  const read = namesOf('read');
  const counted = new Set([...namesOf('counted'), ...read]);
  const settings = new Set(namesOf('common', 'setting'));
  const translated = new Set(namesOf('translated'));
  const lost = new Map(
    Object.entries(traits).flatMap(([name, own]) => own.filter(isFeature).map((one) => [name, one] as const)),
  );
  return {
    common: new Set(namesOf('common')),
    translated: [...translated],
    checkNames: (names) => refuseOtherCase(names, judged),
    addTo(parts, body) {
      for (const name of read) parts.addText(body[name]);
      parts.addSettings(body, counted, settings);
    },
    lose(body, losses) {
      for (const [name, value] of Object.entries(body)) {
        const isGiven = value !== null && value !== undefined;
        if (isGiven && !translated.has(name)) losses.lose(lost.get(name) ?? 'unknownMember', name);
      }
    },
  };
}

const OWN_TRAITS: ReadonlySet<string> = new Set([
  ...['common', 'setting', 'judged', 'counted', 'read', 'translated'],
]);

function isFeature(trait: Trait): trait is Feature {
  return !OWN_TRAITS.has(trait);
}

// How every format reads the members of a body that it goes by.

const MAX_TOOL_TYPES = 32;
const MAX_TYPE_LENGTH = 64;

/**
 * Some providers read names without regard to case: one of the judged members that differs in case only would pass
 * unseen here and count there.
 */
function refuseOtherCase(names: Iterable<string>, judged: ReadonlySet<string>): void {
  for (const name of names) {
    // Both ways: two letters outside ASCII have an ASCII letter as their other case.
    const folded = name.length > MAX_TYPE_LENGTH ? name : name.toUpperCase().toLowerCase();
    if (folded !== name && judged.has(folded)) {
      throw new BodyError(`${folded} must be written in lower case.`, folded);
    }
  }
}

export const MAX_ROLE_LENGTH = 32;

/** Refuses a role that is no short text. It may be left out or null: what a provider makes of that is its own matter. */
export function checkRole(role: unknown, holder: string): void {
  if (role === undefined || role === null || (typeof role === 'string' && role.length <= MAX_ROLE_LENGTH))
    return;
  throw new BodyError(
    `${holder}.role must be text of at most ${MAX_ROLE_LENGTH} characters.`,
    `${holder}.role`,
  );
}

/** A member that may be left out or null. */
export function readOptional<T>(
  body: JsonObject,
  name: string,
  expected: string,
  isRight: (value: unknown) => boolean,
): T | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (!isRight(value)) throw new BodyError(`${name} must be ${expected}.`, name);
  return value as T;
}

/** A member that is true or false; false where it is left out. */
export function readFlag(body: JsonObject, name: string): boolean {
  return readOptional<boolean>(body, name, 'true or false', (value) => typeof value === 'boolean') ?? false;
}

/** A member that is an integer, from 1 on where nothing else is said. */
export function readCount(
  body: JsonObject,
  name: string,
  { least = 1, most }: { readonly least?: 0 | 1; readonly most?: number } = {},
): number | undefined {
  const unbounded = least === 1 ? 'a positive integer' : 'an integer of at least 0';
  const expected = most === undefined ? unbounded : `an integer from ${least} to ${most}`;
  return readOptional<number>(body, name, expected, (value) => isCount(value, least, most));
}

/** True if the caller asked for usage in its stream, in OpenAI's way. */
export function asksForUsage(body: JsonObject): boolean {
  const options = readOptional<JsonObject>(body, 'stream_options', 'an object', isJsonObject);
  return options?.['include_usage'] === true;
}

/** The messages of a body, at least one. */
export function readMessageList({ messages }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject)) {
    throw new BodyError('messages must be a list of at least one message object.', 'messages');
  }
  for (const [index, { role }] of messages.entries()) checkRole(role, `messages[${index}]`);
  return messages;
}

function isCount(value: unknown, least = 1, most = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** The distinct types of the tools; empty for a tool without one. */
export function toolTypesOf(tools: unknown): readonly string[] {
  const types = new Set<string>();
  for (const tool of Array.isArray(tools) ? tools : []) {
    const type = isJsonObject(tool) ? tool['type'] : undefined;
    types.add(typeof type === 'string' ? type.slice(0, MAX_TYPE_LENGTH) : '');
    // Nothing may hide behind the end of a list that is judged.
    if (types.size > MAX_TOOL_TYPES) {
      throw new BodyError(`tools must have at most ${MAX_TOOL_TYPES} types.`, 'tools');
    }
  }
  return [...types];
}

/** How often the tools of each type may be used, of the types whose tools all state it in `max_uses`. */
export function toolLimitsOf(tools: unknown): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const tool of Array.isArray(tools) ? tools : []) {
    const { type, max_uses: uses } = isJsonObject(tool) ? tool : {};
    if (typeof type !== 'string' || type.length > MAX_TYPE_LENGTH) continue;
    limits.set(type, (limits.get(type) ?? 0) + (isCount(uses) ? uses : Number.NaN));
  }
  // A sum with one that is not stated is no number.
  const stated = Array.from(limits).filter(([, limit]) => Number.isFinite(limit));
  return new Map(stated.slice(0, MAX_TOOL_TYPES));
}
