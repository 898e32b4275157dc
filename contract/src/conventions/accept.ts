/**
 * The offered media type that an `Accept` header prefers. The first one offered where the header names none of them, is
 * empty or is malformed: every caller gets a reply.
 *
 * Of the ranges that match a type, the most specific decides (`text/csv`, then `text/*`, then any). The type with the
 * highest weight wins; between equals the more specific match, then the earlier in the header, then the earlier offered.
 * Parameters other than `q` are ignored, and so are malformed ranges.
 *
 * The `negotiator` package has other rules: `text/csv;charset=utf-8` does not match `text/csv` there, weights above 1 and
 * quoted ones count, and a header of open quotes takes quadratic time.
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
  /** How many of its two halves are not `*`. */
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

/** 1 by default; undefined where a parameter is malformed. */
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

/** Splits at separators outside quoted text and trims the parts. */
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
