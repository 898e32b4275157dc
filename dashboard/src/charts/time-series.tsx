import 'uplot/dist/uPlot.min.css';
import { TableIcon } from '@radix-ui/react-icons';
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { IconButton } from '../ui/button.tsx';
import { Legend } from './legend.tsx';
import type { ChartKind } from './plot-options.ts';
import { Readout } from './readout.tsx';
import { colourProperty, isolated, type Series, selectedWindow, stacked, toggled } from './series.ts';
import { SeriesTable } from './series-table.tsx';
import * as styles from './time-series.module.css';
import { usePlot } from './use-plot.ts';

export interface TimeSeriesProps {
  /** The subject for screen readers: "Requests by model". */
  readonly label: string;
  /** The start of each bucket, RFC 3339. */
  readonly buckets: readonly string[];
  /** The width of a bucket. */
  readonly widthMs: number;
  readonly series: readonly Series[];
  readonly kind?: ChartKind;
  readonly height?: number;
  /** A value in the readout, the legend and the table. */
  readonly format: (value: number) => string;
  /** Shorter, for the axis; `format` unless given. */
  readonly formatAxis?: (value: number) => string;
  /** The distances that the grid of values may have: `DURATION_STEPS` for times. */
  readonly axisSteps?: readonly number[] | undefined;
  /** A drag over the chart, in whole buckets. Without it the chart cannot be zoomed. */
  readonly onZoom?: ((fromMs: number, toMs: number) => void) | undefined;
  /** A click on the funnel beside a name in the legend. */
  readonly onFilter?: ((id: string) => void) | undefined;
  /** True if there is a legend; there is where there are several series, unless said otherwise. */
  readonly hasLegend?: boolean;
  /** Without axes, legend and table: a histogram above a list. */
  readonly isBare?: boolean;
}

/** Values over time, with a readout on hover, zoom by dragging, and a legend that filters. */
export function TimeSeries({
  label,
  buckets,
  widthMs,
  series,
  kind = 'lines',
  height = 220,
  format,
  formatAxis = format,
  axisSteps,
  onZoom,
  onFilter,
  isBare = false,
  hasLegend = series.length > 1 && !isBare,
}: TimeSeriesProps) {
  const host = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<{ index: number; left: number }>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const [isTable, setTable] = useState(false);
  const ids = useMemo(() => series.map(({ id }) => id), [series]);
  // A choice of groups that are all gone counts no more.
  const shown = chosen !== undefined && ids.some((id) => chosen.has(id)) ? chosen : new Set(ids);
  const starts = useMemo(() => buckets.map((text) => Date.parse(text)), [buckets]);
  const visible = series.map((each, index) => ({ each, index })).filter(({ each }) => shown.has(each.id));
  const drawn = kind === 'stacked' ? visible.toReversed() : visible;
  const shownKey = [...shown].join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shownKey` stands for the set, which is new at each render
  const data = useMemo((): uPlot.AlignedData => {
    const values = visible.map(({ each }) => each.values);
    const heights = kind === 'stacked' ? stacked(values).toReversed() : values.map((list) => [...list]);
    return [starts.map((ms) => ms / 1000), ...heights];
  }, [starts, series, shownKey, kind]);
  const onCursor = useCallback((index: number | undefined, left: number) => {
    setCursor(index === undefined ? undefined : { index, left });
  }, []);
  const plot = usePlot(host, {
    kind,
    height,
    widthMs,
    isBare,
    formatAxis,
    axisSteps,
    data,
    colours: drawn.map(({ each, index }) => colourProperty(each, index)),
    dashed: drawn.map(({ each }) => each.isDashed === true),
    onCursor,
    onSelect:
      onZoom &&
      ((fromMs, toMs) => {
        const window = selectedWindow(starts, widthMs, fromMs, toMs);
        if (window) onZoom(window.fromMs, window.toMs);
      }),
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || !plot.current || starts.length === 0) return;
    event.preventDefault();
    const index = Math.min(
      starts.length - 1,
      Math.max(0, (cursor?.index ?? (step > 0 ? -1 : starts.length)) + step),
    );
    const left = plot.current.valToPos(
      (starts[index] ?? 0) / 1000 + (kind === 'lines' ? 0 : widthMs / 2000),
      'x',
    );
    plot.current.setCursor({ left, top: height / 2 });
  };
  const isZoomable = onZoom !== undefined;
  return (
    <div className={styles.chart}>
      <div className={styles.stage} hidden={isTable}>
        <div
          ref={host}
          className={styles.canvas}
          data-zoomable={isZoomable || undefined}
          style={{ height }}
          role="img"
          aria-label={`${label}. The arrow keys move from bucket to bucket.`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move its cursor, and the readout is read out
          tabIndex={0}
          onKeyDown={onKeyDown}
          onBlur={() => setCursor(undefined)}
        />
        {cursor !== undefined && starts[cursor.index] !== undefined ? (
          <Readout
            start={new Date(starts[cursor.index] ?? 0)}
            widthMs={widthMs}
            left={cursor.left}
            of={host.current?.clientWidth ?? 0}
            rows={visible.map(({ each, index }) => ({
              id: each.id,
              label: each.label,
              colour: colourProperty(each, index),
              value: each.values[cursor.index] ?? null,
            }))}
            format={format}
            isStacked={kind === 'stacked'}
          />
        ) : undefined}
      </div>
      {isTable ? (
        <SeriesTable label={label} starts={starts} widthMs={widthMs} series={series} format={format} />
      ) : undefined}
      {isBare ? undefined : (
        <div className={styles.below}>
          {hasLegend ? (
            <Legend
              series={series}
              shown={shown}
              format={format}
              onFilter={onFilter}
              onPick={(id, isToggle) => setChosen(isToggle ? toggled(id, shown) : isolated(id, shown, ids))}
            />
          ) : (
            <span className={styles.space} />
          )}
          <IconButton
            icon={<TableIcon />}
            label={isTable ? `Show ${label} as a chart` : `Show ${label} as a table`}
            size="s"
            aria-pressed={isTable}
            onPress={() => setTable(!isTable)}
          />
        </div>
      )}
    </div>
  );
}
