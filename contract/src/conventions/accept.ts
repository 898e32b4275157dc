/**
 * Which of the offered media types an `Accept` header prefers; the first of them where it names none that is offered,
 * is blank or cannot be read. So a caller that asks for nothing in particular is never refused.
 *
 * Of the ranges that match a type, the one that says most decides about it (`text/csv`, then `text/*`, then any).
 * The type with the highest weight is taken; between equals the one that is named more exactly, then the one named
 * first, then the one offered first. Parameters other than `q` are passed over, and so is a range that is malformed.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  const ranges = readRanges(accept ?? '');
  const candidates = offered.flatMap((type) => {
    const range = rangeFor(type, ranges);
    return range && range.weight > 0 ? [{ type, range }] : [];
  });
  const best = candidates.toSorted(
    ({ range: a }, { range: b }) =>
      b.weight - a.weight || b.exactness - a.exactness || a.position - b.position,
  )[0];
  return best?.type ?? offered[0];
}

interface MediaRange {
  /** Lower-case; either half may be `*`. */
  readonly name: string;
  /** From 0, never, to 1. */
  readonly weight: number;
  /** How many of its two halves are named. */
  readonly exactness: number;
  readonly position: number;
}

function rangeFor(type: string, ranges: readonly MediaRange[]): MediaRange | undefined {
  const names = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  for (const name of names) {
    const found = ranges.filter((range) => range.name === name);
    if (found.length > 0) return found.reduce((best, range) => (range.weight > best.weight ? range : best));
  }
  return undefined;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_RANGE = new RegExp(`^${TOKEN}/${TOKEN}$`);
const PARAMETER = new RegExp(`^(${TOKEN})=(${TOKEN}|"(?:[^"\\\\]|\\\\.)*")$`);

function readRanges(accept: string): MediaRange[] {
  return parted(accept, ',').flatMap((element, position) => {
    const [name = '', ...parameters] = parted(element, ';');
    const weight = readWeight(parameters);
    if (!MEDIA_RANGE.test(name) || weight === undefined) return [];
    const exactness = name.split('/').filter((half) => half !== '*').length;
    return [{ name: name.toLowerCase(), weight, exactness, position }];
  });
}

/** 1 unless it is given; undefined where it, or what stands beside it, cannot be read. */
function readWeight(parameters: readonly string[]): number | undefined {
  let weight = 1;
  for (const parameter of parameters.filter((text) => text !== '')) {
    const [, name, value = ''] = PARAMETER.exec(parameter) ?? [];
    if (name === undefined) return undefined;
    if (name.toLowerCase() !== 'q') continue;
    if (!/^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value)) return undefined;
    weight = Number(value);
  }
  return weight;
}

/** The parts between the separators that stand outside of quoted text, without the blanks around them. */
function parted(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}
