import { barsOf, LOADED } from './bars.ts';
import type { Part } from './cpu.ts';
import { NODE, NODE_WITH_POSTGRES } from './node-baseline.ts';
import { KINDS, type Kind } from './options.ts';
import { inColumns, inMarkdown, number, type Table } from './report-tables.ts';
import { type Cell, cpuPerRequest, type Figures, PROVIDER, type Results } from './results.ts';

/** The state of the machine. */
export interface Conditions {
  readonly processors: number;
  /** The share of them that was busy before the run, from 0 to 1. */
  readonly busyBefore: number;
}

export interface Check {
  readonly name: string;
  readonly isRight: boolean;
  readonly detail: string;
}

const KIND_NAMES: Readonly<Record<Kind, string>> = { json: 'JSON answers', sse: 'Streams of 50 events' };
const PARTS: readonly Part[] = [
  'main thread',
  'other threads',
  'PostgreSQL',
  'ClickHouse engine',
  'API process',
  'all',
];
/** Results of nginx and Portkey on the machine on which the bars were set. */
const CALIBRATION = [
  { subject: 'nginx', figure: 'requests/s at 64 connections', there: 70_000 },
  { subject: 'Portkey', figure: 'requests/s at 64 connections', there: 1_705 },
  { subject: 'Portkey', figure: 'added p50 at 1 connection, ms', there: 0.66 },
] as const;
const BUSY = 0.1;

/** The whole report, as text for a terminal or as Markdown. */
export function report(
  results: Results,
  checks: readonly Check[],
  conditions: Conditions,
  markdown: boolean,
): string {
  const sections: [title: string, table: Table][] = [];
  for (const kind of KINDS) {
    if (results.cells.some((cell) => cell.kind === kind))
      sections.push([KIND_NAMES[kind], figuresTable(results, kind)]);
  }
  sections.push([`CPU time per request at ${LOADED} connections, µs`, cpuTable(results)]);
  sections.push(['Calibration', calibrationTable(results)]);
  sections.push(['Checks', checksTable(checks)]);
  sections.push(['Bars', barsTable(results)]);
  const { processors, busyBefore } = conditions;
  const busy = `${processors} processors; ${(busyBefore * 100).toFixed(0)} % busy before the run`;
  const warning =
    busyBefore > BUSY ? '. Other programs were running: trust the CPU times and the ratios only' : '';
  const text = sections
    .filter(([, table]) => table.length > 1)
    .map(([title, table]) =>
      markdown ? `## ${title}\n\n${inMarkdown(table)}` : `${title}\n\n${inColumns(table)}`,
    );
  return `${busy}${warning}.\n\n${text.join('\n')}`;
}

function figuresTable(results: Results, kind: Kind): Table {
  const subjects = results.subjects;
  const ours = results.gatehouses;
  const references = ['nginx', 'Portkey', NODE_WITH_POSTGRES].filter((name) => subjects.includes(name));
  const head = ['connections', 'figure', ...subjects];
  head.push(...references.map((name) => `Gatehouse / ${name}`));
  if (ours.length > 1) head.push(`${ours.at(-1)} / ${ours[0]}`);
  const rows: string[][] = [head];
  const counts = new Set(results.cells.filter((cell) => cell.kind === kind).map((cell) => cell.connections));
  for (const connections of counts) {
    const of = (subject: string) => results.figures(kind, connections, subject);
    const direct = of(PROVIDER);
    const line = (name: string, digits: number, figure: (figures: Figures) => number, hasRatio: boolean) => {
      const value = (subject: string) => {
        const figures = of(subject);
        return figures ? figure(figures) : Number.NaN;
      };
      const ratio = (a: string | undefined, b: string | undefined) =>
        a === undefined || b === undefined || !hasRatio ? '' : number(value(a) / value(b), 2);
      rows.push([
        String(connections),
        name,
        ...subjects.map((subject) => number(value(subject), digits)),
        ...references.map((reference) => ratio(ours[0], reference)),
        ...(ours.length > 1 ? [ratio(ours.at(-1), ours[0])] : []),
      ]);
    };
    line('requests/s', 0, ({ perSecond }) => perSecond, true);
    line('p50 ms', 2, ({ p50Ms }) => p50Ms, true);
    line('p99 ms', 2, ({ p99Ms }) => p99Ms, true);
    line('added p50 ms', 2, (figures) => added(figures, direct, 'p50Ms'), false);
    if (kind === 'json') continue;
    line('first token p50 ms', 2, ({ firstP50Ms }) => firstP50Ms, true);
    line('added first token ms', 2, (figures) => added(figures, direct, 'firstP50Ms'), false);
  }
  return rows;
}

/** Nothing for the provider itself. */
const added = (figures: Figures, direct: Figures | undefined, name: 'p50Ms' | 'firstP50Ms') =>
  direct === undefined || figures[name] === direct[name] ? Number.NaN : figures[name] - direct[name];

function cpuTable(results: Results): Table {
  const cells = results.cells.filter(({ connections, cpu }) => connections === LOADED && cpu.length > 0);
  if (cells.length === 0) return [];
  const inParts = [NODE, NODE_WITH_POSTGRES, ...results.gatehouses];
  const isInParts = ({ subject }: Cell) => inParts.includes(subject);
  return [
    ['part', ...cells.map(({ kind, subject }) => `${subject}, ${kind === 'json' ? 'JSON' : 'SSE'}`)],
    ...PARTS.map((part) => [
      part,
      ...cells.map((cell) => (isInParts(cell) || part === 'all' ? number(cpuPerRequest(cell, part), 0) : '')),
    ]),
  ];
}

function calibrationTable(results: Results): Table {
  const rows = CALIBRATION.map(({ subject, figure, there }) => {
    const isRate = figure.startsWith('requests/s');
    const one = results.figures('json', isRate ? LOADED : 1, subject);
    const direct = results.figures('json', 1, PROVIDER);
    const here = (isRate ? one?.perSecond : one && direct && one.p50Ms - direct.p50Ms) ?? Number.NaN;
    const digits = isRate ? 0 : 2;
    return [`${subject}, ${figure}`, number(there, digits), number(here, digits), number(here / there, 2)];
  });
  return [
    ['figure', 'where the bars were set', 'here', 'ratio'],
    ...rows.filter(([, , here]) => here !== ''),
  ];
}

const checksTable = (checks: readonly Check[]): Table => [
  ['check', 'result', 'detail'],
  ...checks.map(({ name, isRight, detail }) => [name, isRight ? 'right' : 'WRONG', detail]),
];

function barsTable(results: Results): Table {
  const baselines = [NODE, NODE_WITH_POSTGRES].filter((name) => results.subjects.includes(name));
  const ofBaselines = baselines.map((name) => barsOf(results, name));
  return [
    ['bar', 'limit', 'here', 'result', ...baselines],
    ...barsOf(results).map(({ name, limit, figure, isMet }, index) => [
      name,
      limit,
      figure ?? '',
      figure === undefined ? 'not measured' : isMet ? 'met' : 'not met',
      ...ofBaselines.map((bars) => bars[index]?.figure ?? ''),
    ]),
  ];
}
