import uPlot from 'uplot';
import { now } from '../browser/clock.ts';
import { viewerZone } from '../format/zone.ts';
import { timeLabels } from './axis.ts';

export type ChartKind = 'lines' | 'bars' | 'stacked';

/** Colours as the canvas takes them: custom properties are resolved. */
export interface PlotColours {
  readonly series: readonly string[];
  readonly line: string;
  readonly text: string;
}

export interface PlotSettings {
  readonly kind: ChartKind;
  readonly height: number;
  readonly width: number;
  readonly colours: PlotColours;
  readonly dashed: readonly boolean[];
  readonly widthMs: number;
  readonly isBare: boolean;
  readonly formatAxis: (value: number) => string;
  /** The distances that its grid may have; uPlot's decimal ones unless given. */
  readonly axisSteps: readonly number[] | undefined;
  readonly onCursor: (index: number | undefined, left: number) => void;
  readonly onSelect: ((fromMs: number, toMs: number) => void) | undefined;
}

const FONT = '11px "IBM Plex Sans", sans-serif';
/** A shorter drag is a click. */
const MIN_DRAG_PX = 6;

/** The options of uPlot for a chart. */
export function plotOptions(settings: PlotSettings): uPlot.Options {
  const { kind, colours, isBare } = settings;
  const axis = {
    stroke: colours.text,
    font: FONT,
    ticks: { show: false },
    grid: { stroke: colours.line, width: 1 },
  };
  return {
    // The grid is in the zone of the labels.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), viewerZone),
    width: settings.width,
    height: settings.height,
    padding: isBare ? [4, 0, 0, 0] : [10, 20, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: kind === 'lines' ? { size: 7, width: 2 } : { show: false },
      drag: { x: settings.onSelect !== undefined, y: false, setScale: false, dist: MIN_DRAG_PX },
    },
    select: { show: settings.onSelect !== undefined, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: {
        time: true,
        range: (_, min, max) => [min, max + (kind === 'lines' ? 0 : settings.widthMs / 1000)],
      },
      y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] },
    },
    axes: isBare
      ? [{ show: false }, { show: false }]
      : [
          {
            ...axis,
            grid: { show: false },
            space: 72,
            size: 26,
            values: (_, splits) => timeLabels(splits, now()),
          },
          {
            ...axis,
            size: (_, values) => Math.max(34, ...(values ?? []).map((value) => value.length * 6.4 + 14)),
            space: 34,
            ...(settings.axisSteps === undefined ? {} : { incrs: [...settings.axisSteps] }),
            values: (_, splits) => splits.map((value) => settings.formatAxis(value)),
          },
        ],
    series: [
      {},
      ...colours.series.map((colour, index) => seriesOptions(kind, colour, settings.dashed[index] === true)),
    ],
    hooks: {
      setCursor: [
        (plot) =>
          settings.onCursor(
            plot.cursor.idx ?? undefined,
            Math.max(0, plot.cursor.left ?? 0) + plot.bbox.left / devicePixelRatio,
          ),
      ],
      setSelect: [
        (plot) => {
          if (plot.select.width < MIN_DRAG_PX) return;
          const from = plot.posToVal(plot.select.left, 'x');
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          settings.onSelect?.(from * 1000, to * 1000);
        },
      ],
    },
  };
}

function seriesOptions(kind: ChartKind, colour: string, isDashed: boolean): uPlot.Series {
  if (kind === 'lines')
    return {
      stroke: colour,
      width: 1.75,
      ...(isDashed ? { dash: [5, 4] } : {}),
      spanGaps: false,
      // A single value between unknown ones would be invisible as a line.
      points: { show: (plot, seriesIndex) => isSparse(plot.data[seriesIndex] ?? []), size: 4 },
    };
  return {
    fill: colour,
    stroke: colour,
    width: 0,
    points: { show: false },
    ...(uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.82, 64, 1], align: 1 }) } : {}),
  };
}

function isSparse(values: ArrayLike<number | null | undefined>): boolean {
  const known = Array.from(values).filter((value) => value !== null && value !== undefined).length;
  return known > 0 && known < Math.min(24, values.length / 3);
}
