import type { GetTrendReply } from '@gatehouse/sdk';
import type { ApiCall } from '../../api/call.ts';
import { SparkLine } from '../../charts/spark-line.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { Figure } from '../../ui/figure.tsx';
import * as styles from './figures.module.css';
import { METRIC_VIEWS, metricChange, metricDetail, metricExact } from './metrics.ts';
import { METRICS, type Metric } from './overview-choices.ts';

/** A call, and what it found. */
export interface Source {
  readonly call: ApiCall;
  /** Undefined while it loads. */
  readonly trend: GetTrendReply | undefined;
  /** True if it was found for the window or filter before. */
  readonly isStale: boolean;
}

export interface FiguresProps {
  readonly sourceOf: (metric: Metric) => Source;
  readonly chosen: Metric;
  /** A click on a figure shows it in the chart. */
  readonly onChoose: (metric: Metric) => void;
}

export function Figures({ sourceOf, chosen, onChoose }: FiguresProps) {
  return (
    <div className={styles.figures}>
      {METRICS.map((metric) => {
        const { call, trend, isStale } = sourceOf(metric);
        const { label, unit, colour, of, perBucket, short } = METRIC_VIEWS[metric];
        const value = trend && of(trend.total);
        return (
          <Figure
            key={metric}
            label={label}
            value={value === undefined || value === null ? value : short(value)}
            isStale={isStale}
            unit={unit}
            exact={value === undefined ? undefined : metricExact(metric, value)}
            change={trend && metricChange(metric, trend)}
            detail={trend && metricDetail(metric, trend)}
            chart={
              trend ? <SparkLine values={perBucket(trend.total.per_bucket)} colour={colour} /> : <span />
            }
            action={<CopyCurl call={call} of={label.toLowerCase()} />}
            isPressed={metric === chosen}
            onPress={() => onChoose(metric)}
          />
        );
      })}
    </div>
  );
}
