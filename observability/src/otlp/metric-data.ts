import { type HrTime, ValueType } from '@opentelemetry/api';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import type { MetricDeclaration } from '../declaration.ts';
import { OWN_METRICS } from '../declarations/index.ts';
import type { MetricSnapshot, SeriesSnapshot } from '../instruments.ts';

const DECLARATIONS = new Map(OWN_METRICS.map((declaration) => [declaration.name, declaration]));

/** The metrics of this process in the form of OpenTelemetry, counted since `since`. */
export function metricData(snapshots: readonly MetricSnapshot[], since: HrTime, now: HrTime): MetricData[] {
  return snapshots.flatMap(({ name, series }) => {
    const declaration = DECLARATIONS.get(name);
    return declaration && series.length > 0 ? [dataOf(declaration, series, since, now)] : [];
  });
}

function dataOf(
  { name, type, labels, unit, meaning, buckets }: MetricDeclaration,
  series: readonly SeriesSnapshot[],
  startTime: HrTime,
  endTime: HrTime,
): MetricData {
  const common = {
    descriptor: { name, description: meaning, unit: UNITS.get(unit) ?? '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const pointOf = <Value>([values]: SeriesSnapshot, value: Value) => ({
    startTime,
    endTime,
    attributes: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])),
    value,
  });
  if (type === 'histogram') {
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: series.map((one) => pointOf(one, histogramOf(one, buckets))),
    };
  }
  const dataPoints = series.map((one) => pointOf(one, typeof one[1] === 'number' ? one[1] : 0));
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...common, dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true };
}

function histogramOf([, value, sum = 0]: SeriesSnapshot, boundaries: readonly number[]) {
  const counts = typeof value === 'number' ? [] : [...value];
  const count = counts.reduce((total, one) => total + one, 0);
  return { buckets: { boundaries: [...boundaries], counts }, count, sum };
}

// As UCUM has them.
const UNITS = new Map([
  ['seconds', 's'],
  ['bytes', 'By'],
  ['requests', '{request}'],
  ['tokens', '{token}'],
  ['PKR', 'PKR'],
]);
