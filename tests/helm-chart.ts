import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

// The chart as it is rendered, for review and for tests where nothing renders it. Its first line names the chart's files by a hash,
// so that a rendering of an earlier chart fails the tests. To write it: node tests/helm-chart.ts

const folder = join(import.meta.dirname, '../deploy/helm');
const chart = join(folder, 'gatehouse');
export const RENDERED = join(folder, 'rendered.yaml');
const RENDERED_VALUES = 'existingSecret: gatehouse\ningress: { enabled: true }\n';

export type Resource = {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string>; labels?: Record<string, string> };
} & Record<
  string,
  // biome-ignore lint/suspicious/noExplicitAny: parsed YAML
  any
>;

/** Renders the chart with these values, a YAML document. Throws what the chart says where it refuses them. */
export interface ChartRenderer extends Disposable {
  readonly name: string;
  render(values: string): string;
}

export function chartHash(): string {
  const hash = createHash('sha256');
  for (const path of globSync('**/*.{yaml,tpl}', { cwd: chart }).sort())
    hash.update(`${path}\0`).update(readFileSync(join(chart, path)));
  return hash.digest('hex');
}

/** Helm, or its template engine from the Go packages of Debian (render-chart.go); undefined where neither is installed. */
export function openChartRenderer(): ChartRenderer | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-chart-'));
  const close = () => rmSync(directory, { recursive: true });
  if (spawnSync('helm', ['version']).status === 0) {
    const values = join(directory, 'values.yaml');
    const arguments_ = ['template', 'gatehouse', chart, '--kube-version', '1.30.0', '--values', values];
    const render = (text: string) => {
      writeFileSync(values, text);
      return execFileSync('helm', arguments_, { encoding: 'utf8', stdio: 'pipe' });
    };
    return { name: 'Helm', render, [Symbol.dispose]: close };
  }
  const program = join(directory, 'render-chart');
  const { status } = spawnSync('go', ['build', '-o', program, join(import.meta.dirname, 'render-chart.go')], {
    env: {
      PATH: process.env['PATH'],
      GO111MODULE: 'off',
      GOPATH: '/usr/share/gocode',
      GOCACHE: join(directory, 'cache'),
    },
  });
  if (status !== 0) return void close();
  const render = (text: string) =>
    execFileSync(program, [chart], { input: text, encoding: 'utf8', stdio: 'pipe' });
  return { name: "Helm's template engine", render, [Symbol.dispose]: close };
}

export function resourcesIn(text: string): Resource[] {
  const documents = parseAllDocuments(text);
  const [problem] = documents.flatMap(({ errors }) => errors);
  if (problem) throw problem;
  return documents.map((document) => document.toJS() as Resource).filter(Boolean);
}

export function renderReviewed({ render }: ChartRenderer): string {
  return `# chart ${chartHash()}\n${render(RENDERED_VALUES)}`;
}

if (import.meta.main) {
  using renderer = openChartRenderer();
  if (!renderer) throw new Error('neither Helm nor Go with sprig and ghodss/yaml of Debian is installed');
  writeFileSync(RENDERED, renderReviewed(renderer));
}
