import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ALL_METRICS } from '@gatehouse/observability';
import { parse } from 'yaml';
import { expressionIssues, firstSelectorTakes, seriesOf } from './promql.ts';

// The dashboard and the alert rules in deploy/ use only metrics and labels that exist, and the docs say of each alert
// what to do.

const read = (path: string) => readFile(join(import.meta.dirname, '..', path), 'utf8');
const known = seriesOf(ALL_METRICS);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly query: string }[] };
}

async function rules(): Promise<readonly Rule[]> {
  const { groups } = parse(await read('deploy/prometheus/gatehouse-alerts.yml')) as {
    groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
}

describe('the check of an expression', () => {
  for (const [expression, issue] of [
    ['sum(rate(gatehouse_gateway_requests_total[5m]))', undefined],
    ['histogram_quantile(0.9, sum by (le) (rate(gatehouse_gateway_added_seconds_bucket[5m])))', undefined],
    ['up{job="gatehouse"} == 0', undefined],
    ['sum(rate(gatehouse_gateway_requests_total[5m])', 'a syntax error at 46'],
    ['gatehouse_nothing > 1', 'gatehouse_nothing is no metric'],
    ['gatehouse_gateway_requests_total > 1', 'gatehouse_gateway_requests_total is a counter'],
    ['rate(gatehouse_queue_depth[5m])', 'gatehouse_queue_depth is no counter'],
    ['gatehouse_gateway_added_seconds', 'gatehouse_gateway_added_seconds is no metric'],
    ['gatehouse_queue_depth{model="x"}', 'a metric has no label model'],
    ['sum by (organization) (gatehouse_queue_depth)', 'nothing has the label organization'],
    ['1 > 0', 'it names no metric'],
  ] as const) {
    it(`${issue ?? 'finds nothing'}: ${expression}`, () => {
      assert.deepEqual(expressionIssues(expression, known), issue === undefined ? [] : [issue]);
    });
  }
});

describe('the files for Prometheus and Grafana', () => {
  it('have alert rules over metrics that exist, each with a severity and a summary', async () => {
    const all = await rules();
    assert.ok(all.length > 15);
    assert.equal(new Set(all.map(({ alert }) => alert)).size, all.length);
    for (const { alert, expr, labels, annotations } of all) {
      assert.deepEqual(expressionIssues(expr, known), [], alert);
      assert.match(labels['severity'] ?? '', /^(critical|warning|info)$/, alert);
      assert.ok((annotations['summary'] ?? '').length > 10, alert);
    }
  });

  it('have alerts that docs/monitoring.md explains, with the same severity, and no others', async () => {
    const page = await read('docs/monitoring.md');
    const rows = [...page.matchAll(/^\| `(Gatehouse\w+)` \| (\w+) \| \S[^|]+ \| \S[^|]+ \|$/gm)];
    assert.deepEqual(
      rows.map(([, alert, severity]) => `${alert} ${severity}`),
      (await rules()).map(({ alert, labels }) => `${alert} ${labels['severity']}`),
    );
  });

  it('have a dashboard over metrics that exist', async () => {
    const { panels, templating } = JSON.parse(await read('deploy/grafana/gatehouse.json')) as Dashboard;
    const expressions = panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ title, expr })),
    );
    assert.ok(expressions.length > 40);
    for (const { title, expr } of expressions) {
      const plain = expr.replaceAll('$__rate_interval', '5m');
      assert.deepEqual(expressionIssues(plain, known), [], `${title}: ${expr}`);
    }
    for (const { query } of templating.list.filter(({ type }) => type === 'query')) {
      const metric = /^label_values\((\w+), \w+\)$/.exec(query)?.[1] ?? '';
      assert.ok(known.has(metric), query);
    }
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  });

  it("count as the gateway's own errors what it failed at, and nothing that a provider answered", async () => {
    const alert = (await rules()).find(({ alert: name }) => name === 'GatehouseGatewayErrors')?.expr ?? '';
    const { panels } = JSON.parse(await read('deploy/grafana/gatehouse.json')) as Dashboard;
    const shown = panels
      .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      .filter((expr) => expr.includes('status=~"5..",'));
    assert.equal(shown.length, 1);
    for (const expression of [alert, ...shown.map((expr) => expr.replaceAll('instance=~"$instance",', ''))]) {
      const [failed = '', all = ''] = expression.split(' / ');
      const takes = (operation: string, status: string, refusal: string) =>
        firstSelectorTakes(failed, { operation, status, refusal });
      for (const refusal of ['internal_error', 'service_unavailable'])
        assert.ok(takes('createChatCompletion', '503', refusal), refusal);
      for (const refusal of ['', 'upstream_error', 'upstream_timeout', 'upstream_unavailable'])
        assert.ok(!takes('createChatCompletion', '502', refusal), refusal);
      assert.ok(!takes('createChatCompletion', '402', 'budget_exhausted'));
      assert.ok(!takes('readyz', '503', ''));
      for (const operation of ['', 'healthz', 'readyz', 'whatIsServed'])
        assert.ok(!firstSelectorTakes(all, { operation }), operation);
      assert.ok(firstSelectorTakes(all, { operation: 'createChatCompletion' }));
    }
  });

  it('have a configuration of Prometheus that names the rules', async () => {
    const { rule_files } = parse(await read('deploy/prometheus/prometheus.yml')) as { rule_files: string[] };
    assert.deepEqual(rule_files, ['gatehouse-alerts.yml']);
  });

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
  it('are accepted by Prometheus', { skip: hasPromtool ? false : 'promtool is not installed' }, () => {
    const file = join(import.meta.dirname, '../deploy/prometheus/prometheus.yml');
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /SUCCESS: \d+ rules found/);
  });
});
