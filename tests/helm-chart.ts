import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The chart as Helm renders it, for review and for tests where there is no Helm. Its first line names the chart's files by a hash,
// so that a rendering of an earlier chart fails the tests. To write it: node tests/helm-chart.ts

const folder = join(import.meta.dirname, '../deploy/helm');
const chart = join(folder, 'gatehouse');
export const RENDERED = join(folder, 'rendered.yaml');

export function chartHash(): string {
  const hash = createHash('sha256');
  for (const path of globSync('**/*.{yaml,tpl}', { cwd: chart }).sort())
    hash.update(`${path}\0`).update(readFileSync(join(chart, path)));
  return hash.digest('hex');
}

/** Needs Helm in PATH. */
export function render(): string {
  const values = ['--kube-version', '1.30.0', '--set', 'existingSecret=gatehouse,ingress.enabled=true'];
  const text = execFileSync('helm', ['template', 'gatehouse', chart, ...values], { encoding: 'utf8' });
  return `# chart ${chartHash()}\n${text}`;
}

if (import.meta.main) writeFileSync(RENDERED, render());
