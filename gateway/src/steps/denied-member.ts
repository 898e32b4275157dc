import type { MemberRule } from '@gatehouse/contract';

/** The members of a request that the rules judge. */
export interface RequestMembers {
  /** The top-level members. One whose value was too large to be kept is there as undefined. */
  readonly members: ReadonlyMap<string, unknown>;
  /** The types of the tools, each once, wherever they stand; empty for one without a type. */
  readonly toolTypes: readonly string[];
  /** The members, at any depth, that name what a provider keeps. */
  readonly references: readonly string[];
}

export interface DeniedMember {
  readonly member: string;
  /** The value that is denied; undefined where it is the member as a whole, or where the value is no short text. */
  readonly value: string | undefined;
  /** The values that pass; empty where none does. */
  readonly allowed: readonly string[];
}

const TOOLS = 'tools';
// No rule has a longer one; a caller's may be a megabyte.
const MAX_NAME_LENGTH = 100;

/**
 * The first member that `deny` forbids and `allow` does not lift; undefined where there is none. Null, false and an
 * empty list always pass: they ask for nothing. Names are compared without their case, since a provider may do so too.
 * `allow` is asked only where a member is on the list of `deny`, which must not change.
 */
export function deniedMember(
  deny: readonly MemberRule[],
  allow: () => readonly MemberRule[],
  { members, toolTypes, references }: RequestMembers,
): DeniedMember | undefined {
  const rules = rulesByName(deny);
  // Tools may also stand elsewhere in the body than in the member.
  const hasTools = toolTypes.length > 0;
  const elsewhere = hasTools && !members.has(TOOLS) ? [TOOLS, ...references] : references;
  const judged =
    elsewhere.length === 0 ? members : [...members, ...elsewhere.map((name) => [name, undefined] as const)];
  for (const [name, value] of judged) {
    const folded = name.length > MAX_NAME_LENGTH ? name : fold(name);
    const rule = rules.get(folded);
    const isListOfTools = name === TOOLS && hasTools;
    if (!rule || (asksForNothing(value) && !isListOfTools)) continue;
    const lifts = allow().filter(({ member }) => fold(member) === folded);
    if (lifts.some(({ values }) => values === null)) continue;
    const allowed = [...(rule.values ?? []), ...lifts.flatMap(({ values }) => values ?? [])];
    // The list of tools is often too large to be kept; its types are known all the same.
    const given = isListOfTools ? toolTypes : valuesOf(value);
    const denied = given.findIndex((one) => !one || !allowed.includes(one));
    if (denied >= 0) {
      return {
        member: rule.member,
        value: allowed.length === 0 ? undefined : given[denied] || undefined,
        allowed,
      };
    }
  }
  return undefined;
}

type RulesByName = ReadonlyMap<string, MemberRule>;
// Of the lists of the providers that are in memory.
const known = new WeakMap<readonly MemberRule[], RulesByName>();

function rulesByName(deny: readonly MemberRule[]): RulesByName {
  const earlier = known.get(deny);
  if (earlier) return earlier;
  const rules = new Map(deny.map((rule) => [fold(rule.member), rule]));
  known.set(deny, rules);
  return rules;
}

// Both ways: two letters outside ASCII have an ASCII letter as their other case.
function fold(name: string): string {
  return /^[a-z0-9_]*$/.test(name) ? name : name.toUpperCase().toLowerCase();
}

function asksForNothing(value: unknown): boolean {
  return value === null || value === false || (Array.isArray(value) && value.length === 0);
}

/** The texts that a rule compares: of a list those of its entries, of an object its `type`. */
function valuesOf(value: unknown): (string | undefined)[] {
  return Array.isArray(value) ? value.map(textOf) : [textOf(value)];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const type = (value as { readonly type?: unknown } | null | undefined)?.type;
  return typeof type === 'string' ? type : undefined;
}
