import { type RefObject, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { onResize } from '../browser/interfaces.ts';
import { useTheme } from '../ui/theme.ts';
import { resolveColours } from './colours.ts';
import { type PlotSettings, plotOptions } from './plot-options.ts';

export interface PlotInput
  extends Pick<
    PlotSettings,
    'kind' | 'height' | 'widthMs' | 'isBare' | 'formatAxis' | 'axisSteps' | 'onCursor' | 'onSelect'
  > {
  readonly data: uPlot.AlignedData;
  /** Custom properties, one a series. */
  readonly colours: readonly string[];
  readonly dashed: readonly boolean[];
}

/** Draws a chart into the element and keeps it at its width. Returns the chart, for the cursor keys. */
export function usePlot(
  host: RefObject<HTMLDivElement | null>,
  input: PlotInput,
): RefObject<uPlot | undefined> {
  const { seen } = useTheme();
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(input);
  latest.current = input;
  // A chart is made again when one of these changes; new data are set into the one that there is.
  const shape = JSON.stringify([
    input.kind,
    input.height,
    input.widthMs,
    input.isBare,
    input.colours,
    input.dashed,
    seen,
    input.onSelect === undefined,
  ]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for the inputs that need a new chart
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const now = latest.current;
    const [line = '', text = '', ...series] = resolveColours(element, ['--line', '--ink-3', ...now.colours]);
    const made = new uPlot(
      plotOptions({
        ...now,
        width: Math.max(40, element.clientWidth),
        colours: { series, line, text },
        formatAxis: (value) => latest.current.formatAxis(value),
        onCursor: (index, left) => latest.current.onCursor(index, left),
        onSelect: now.onSelect && ((fromMs, toMs) => latest.current.onSelect?.(fromMs, toMs)),
      }),
      now.data,
      element,
    );
    plot.current = made;
    const endResize = onResize(element, () => {
      const width = element.clientWidth;
      if (width > 0 && width !== made.width) made.setSize({ width, height: latest.current.height });
    });
    return () => {
      endResize();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    if (plot.current && plot.current.data !== input.data) plot.current.setData(input.data);
  }, [input.data]);
  return plot;
}
