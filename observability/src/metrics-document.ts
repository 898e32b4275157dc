import { METRIC_GROUPS } from './declarations/index.ts';

const INTRODUCTION = `# Metrics

<!-- Written by \`npm run generate\` from observability/src/declarations/. -->

[monitoring.md](monitoring.md) says how to scrape them, and what to do when an alert fires.

Every series has the label \`process\`: \`api\`, \`gateway\` (of several \`gateway-1\` and so on), or \`supervisor\`, which only runs the others. Add
series up with \`sum by (...)\`. A name ends in its unit or in what is counted, before \`_total\`. No label holds an organisation, a user, a key or
anything else that a caller can choose.
`;

/** docs/metrics.md. */
export function metricsDocument(): string {
  const groups = METRIC_GROUPS.map(({ title, metrics }) =>
    [
      `## ${title}`,
      '',
      '| metric | type | labels | meaning | alert on |',
      '|---|---|---|---|---|',
      ...metrics.map(({ name, type, labels, meaning, alert = '' }) => {
        const named = labels.map((label) => `\`${label}\``).join(', ');
        return `| \`${name}\` | ${type} | ${named} | ${meaning} | ${alert} |`;
      }),
    ].join('\n'),
  );
  return `${[INTRODUCTION, ...groups].join('\n')}\n`
    .replaceAll(/\n(## )/g, '\n\n$1')
    .replaceAll(/\n{3,}/g, '\n\n');
}
