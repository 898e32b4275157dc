// A metric is declared once. The instruments, the text for Prometheus, docs/metrics.md and the check of the dashboard and
// the alert rules derive from its declaration.

export type MetricType = 'counter' | 'gauge' | 'histogram';

export interface MetricDeclaration<
  Type extends MetricType = MetricType,
  Labels extends readonly string[] = readonly string[],
> {
  readonly type: Type;
  readonly name: string;
  /** Beside `process`, which every series has. Their values come from finite sets, never from a caller. */
  readonly labels: Labels;
  /** The unit of a value; for a histogram of what it counts. */
  readonly unit: string;
  /** A sentence for the operator. */
  readonly meaning: string;
  /** The condition to alert on, where there is one. */
  readonly alert: string | undefined;
  /** Upper bounds of a histogram, ascending; empty for the others. */
  readonly buckets: readonly number[];
}

interface Description<Labels extends readonly string[]> {
  readonly labels?: Labels;
  readonly unit: string;
  readonly meaning: string;
  readonly alert?: string;
}

const declared = <Type extends MetricType, const Labels extends readonly string[]>(
  type: Type,
  name: string,
  { labels, unit, meaning, alert }: Description<Labels>,
  buckets: readonly number[] = [],
): MetricDeclaration<Type, Labels> => ({
  type,
  name,
  labels: labels ?? ([] as readonly string[] as Labels),
  unit,
  meaning,
  alert,
  buckets,
});

export const counter = <const Labels extends readonly string[] = readonly []>(
  name: string,
  description: Description<Labels>,
) => declared('counter', name, description);

export const gauge = <const Labels extends readonly string[] = readonly []>(
  name: string,
  description: Description<Labels>,
) => declared('gauge', name, description);

export const histogram = <const Labels extends readonly string[] = readonly []>(
  name: string,
  buckets: readonly number[],
  description: Description<Labels>,
) => declared('histogram', name, description, buckets);
