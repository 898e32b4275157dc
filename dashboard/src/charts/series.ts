/** One line or layer of a chart. */
export interface Series {
  readonly id: string;
  readonly label: string;
  /** One value a bucket; null where it is unknown. */
  readonly values: readonly (number | null)[];
  /** Over the whole window, for the legend; the API's own figure, not a sum made here. */
  readonly total?: number | null | undefined;
  /** From 1 to 8, or the colour of everything else. By position unless given. */
  readonly colour?: SeriesColour | undefined;
  /** Drawn with dashes: a second quantile beside the first. */
  readonly isDashed?: boolean;
  /** True if a page can be filtered by it: "other" and unknown groups are none. */
  readonly canFilter?: boolean;
}

export type SeriesColour = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 'other';

/** The custom property of a colour: see tokens.css. */
export function colourProperty(series: Series, index: number): string {
  return `--series-${series.colour ?? (index % 8) + 1}`;
}

/**
 * The heights of layers on top of each other, from the first at the bottom. An unknown value adds nothing. Hidden layers take
 * no room.
 */
export function stacked(layers: readonly (readonly (number | null)[])[]): number[][] {
  const heights: number[][] = [];
  for (const layer of layers) {
    const below = heights.at(-1);
    heights.push(layer.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return heights;
}

/** The series that are shown after a click in the legend: only that one, or all again where it was the only one. */
export function isolated(
  id: string,
  shown: ReadonlySet<string>,
  all: readonly string[],
): ReadonlySet<string> {
  return shown.size === 1 && shown.has(id) ? new Set(all) : new Set([id]);
}

/** With Ctrl or ⌘: it alone is switched. The last one cannot be switched off. */
export function toggled(id: string, shown: ReadonlySet<string>): ReadonlySet<string> {
  const next = new Set(shown);
  if (!next.delete(id)) next.add(id);
  return next.size === 0 ? shown : next;
}

/** The window of a selection from one bucket to another, both whole. */
export function selectedWindow(
  startsMs: readonly number[],
  widthMs: number,
  fromMs: number,
  toMs: number,
): { fromMs: number; toMs: number } | undefined {
  const first = startsMs.findLast((start) => start <= fromMs) ?? startsMs[0];
  const after = startsMs.find((start) => start >= toMs) ?? (startsMs.at(-1) ?? Number.NaN) + widthMs;
  return first === undefined || !(after > first) ? undefined : { fromMs: first, toMs: after };
}
