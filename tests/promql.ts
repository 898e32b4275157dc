import type { MetricDeclaration } from '@gatehouse/observability';
import { parser } from '@prometheus-io/lezer-promql';

// Checks a PromQL expression against the metrics that exist: its syntax, its metrics, their labels, and that counters and
// histograms are used as such.

/** Labels of every series: our own, those that Prometheus adds to what it scrapes, and that of a bucket. */
const COMMON_LABELS = ['process', 'instance', 'job'];
/** The metric that Prometheus itself keeps of a target. */
const UP = 'up';

interface Series {
  readonly labels: readonly string[];
  readonly isCounted: boolean;
}

/** The series of the declared metrics, by their names. */
export function seriesOf(metrics: readonly MetricDeclaration[]): ReadonlyMap<string, Series> {
  const series = new Map<string, Series>([[UP, { labels: [], isCounted: false }]]);
  for (const { name, type, labels } of metrics) {
    if (type !== 'histogram') series.set(name, { labels, isCounted: type === 'counter' });
    else {
      series.set(`${name}_bucket`, { labels: [...labels, 'le'], isCounted: true });
      for (const part of ['sum', 'count']) series.set(`${name}_${part}`, { labels, isCounted: true });
    }
  }
  return series;
}

/** The issues of the expression; empty where nothing is. */
export function expressionIssues(text: string, known: ReadonlyMap<string, Series>): string[] {
  const issues: string[] = [];
  const used: Series[] = [];
  const grouping: string[] = [];
  let current: Series | undefined;
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      const said = text.slice(from, to);
      if (type.isError) issues.push(`a syntax error at ${from}`);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') {
        current = known.get(said);
        if (!current) issues.push(`${said} is no metric`);
        else {
          used.push(current);
          const isRange = node.parent.parent?.name === 'MatrixSelector';
          if (current.isCounted !== isRange)
            issues.push(`${said} is ${isRange ? 'no counter' : 'a counter'}`);
        }
      }
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') grouping.push(said);
      else if (current && ![...COMMON_LABELS, ...current.labels].includes(said)) {
        issues.push(`a metric has no label ${said}`);
      }
    },
  });
  const grouped = new Set([...COMMON_LABELS, ...used.flatMap(({ labels }) => labels)]);
  issues.push(
    ...grouping.filter((label) => !grouped.has(label)).map((label) => `nothing has the label ${label}`),
  );
  if (used.length === 0 && issues.length === 0) issues.push('it names no metric');
  return issues;
}

/** True if the first selector of an expression takes a series with these labels. */
export function firstSelectorTakes(text: string, series: Readonly<Record<string, string>>): boolean {
  const [selector = ''] = /\{[^}]*\}/.exec(text) ?? [];
  return [...selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].every(
    ([, label = '', operator, value = '']) => {
      const is = series[label] ?? '';
      const isMatch = operator?.endsWith('~') ? new RegExp(`^(?:${value})$`).test(is) : is === value;
      return isMatch === !operator?.startsWith('!');
    },
  );
}
