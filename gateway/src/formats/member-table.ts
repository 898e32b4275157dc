import type { JsonObject } from '../wire/json.ts';
import { refuseOtherCase } from './members.ts';
import type { PromptParts } from './prompt-parts.ts';
import type { Feature } from './translation/features.ts';
import type { Losses } from './translation/losses.ts';

/**
 * The traits of a member of a body. `common`: every provider of the format takes it; a provider with strict fields is sent no others.
 * `setting`: a short value of it is no part of a prompt, as none of a common member is. `judged`: the gateway goes by it. `counted`: the
 * prompt has a rule for it. `translated`: the reader of a translation knows it. A feature: a translation loses that with it.
 */
export type Trait = 'common' | 'setting' | 'judged' | 'counted' | 'translated' | Feature;

/** The members of a format's body, each named once. */
export interface MemberTable {
  readonly common: ReadonlySet<string>;
  readonly translated: readonly string[];
  /** Refuses a judged member that is written in another case: some providers read names without regard to it. */
  checkNames(names: Iterable<string>): void;
  /** Counts the members that no rule of the prompt counts. */
  addOthers(parts: PromptParts, body: JsonObject): void;
  /** Tells what a translation loses with the members as such. */
  lose(body: JsonObject, losses: Losses): void;
}

export function memberTable(traits: Readonly<Record<string, readonly Trait[]>>): MemberTable {
  const namesOf = (...wanted: readonly Trait[]) =>
    Object.keys(traits).filter((name) => traits[name]?.some((trait) => wanted.includes(trait)));
  const judged = new Set(namesOf('judged'));
  const counted = new Set(namesOf('counted'));
  const settings = new Set(namesOf('common', 'setting'));
  const translated = new Set(namesOf('translated'));
  const lost = new Map(
    Object.entries(traits).flatMap(([name, own]) => own.filter(isFeature).map((one) => [name, one] as const)),
  );
  return {
    common: new Set(namesOf('common')),
    translated: [...translated],
    checkNames: (names) => refuseOtherCase(names, judged),
    addOthers: (parts, body) => parts.addSettings(body, counted, settings),
    lose(body, losses) {
      for (const [name, value] of Object.entries(body)) {
        const isGiven = value !== null && value !== undefined;
        if (isGiven && !translated.has(name)) losses.lose(lost.get(name) ?? 'unknownMember', name);
      }
    },
  };
}

const OWN_TRAITS: ReadonlySet<string> = new Set(['common', 'setting', 'judged', 'counted', 'translated']);

function isFeature(trait: Trait): trait is Feature {
  return !OWN_TRAITS.has(trait);
}
