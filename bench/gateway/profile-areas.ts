import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inColumns, inMarkdown, type Table } from './report-tables.ts';

// Where the time of a CPU profile goes: by the part of a request's path, by the file of ours that does the work or calls what does it, and
// by function.
//
//   node bench/gateway/main-thread.ts --profile gateway.cpuprofile
//   node bench/gateway/profile-areas.ts gateway.cpuprofile --requests N [--markdown]
//
// main-thread.ts prints how many requests its profile is of. With them the times are per request, otherwise in all.

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

const ROWS = 25;
const OWN_FILE = /\/((?:concurrency|contract|http|store|gateway|cli)\/src\/.+)$/;
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/;
/** Time outside JavaScript functions. */
const ENGINE = new Set(['(garbage collector)', '(program)']);

/** The parts of a request's path, by what the innermost of these on the stack is. Formats, for example, serve several, so they are in none. */
const PARTS: readonly (readonly [part: string, members: RegExp])[] = [
  ['HTTP with the caller', /^(http|gateway\/src\/(exchange|http))\//],
  ['HTTP with the provider', /^(gateway\/src\/providers\/|package undici)/],
  ['admission and PostgreSQL', /^(gateway\/src\/(credit|catalogue)|store\/src\/postgres)\/|^package pg/],
  ['record, journal and shipping', /^(gateway\/src\/journal|store\/src\/clickhouse)\/|^package @clickhouse/],
  ['log and metrics', /^(gateway\/src\/observed|observability|cli\/src\/log)\/|^package pino/],
  [
    'the request: key, body, limits, route',
    /^gateway\/src\/(steps|readers|bodies|tokens|rates|routing|context)\//,
  ],
  ['the attempt and its answer', /^gateway\/src\/(attempt|endpoints)\//],
];
const BAR_MICROS = 2;

const RUNTIME = 'the runtime, by itself';

/** Waiting, and the profiler itself. */
const NOT_WORK = /^\(idle\)|node:inspector$/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: 'string', default: '1' }, markdown: { type: 'boolean', default: false } },
});
const requests = Number(values.requests);

const maps = new Map<string, SourceMap>();

/** The function's place in its source, where it was bundled. */
function inSource(node: ProfileNode): ProfileNode {
  const { url, lineNumber, columnNumber } = node.callFrame;
  if (!url.includes('/cli/dist/')) return node;
  const map = maps.get(url) ?? new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')));
  maps.set(url, map);
  const found = map.findEntry(lineNumber, columnNumber);
  if (!('originalSource' in found)) return node;
  const source = { url: new URL(found.originalSource, url).href, lineNumber: found.originalLine };
  return { ...node, callFrame: { ...node.callFrame, ...source } };
}

function moduleOf({ callFrame: { functionName, url } }: ProfileNode): string {
  const own = OWN_FILE.exec(url)?.[1];
  if (own !== undefined) return own;
  const inPackage = PACKAGE.exec(url)?.[1];
  if (inPackage !== undefined) return `package ${inPackage}`;
  return url === '' ? functionName : url;
}

/** Sums of microseconds, largest first, as rows. */
function table(title: string, sums: ReadonlyMap<string, number>, totalUs: number): Table {
  const rows = [...sums].sort(([, a], [, b]) => b - a).slice(0, ROWS);
  return [
    [title, 'µs', 'share', ''],
    ...rows.map(([name, us]) => [
      name,
      (us / requests).toFixed(1),
      `${((100 * us) / totalUs).toFixed(1)} %`,
      '▇'.repeat(us / requests / BAR_MICROS),
    ]),
  ];
}

async function main(file: string): Promise<void> {
  const profile = JSON.parse(await readFile(file, 'utf8')) as Profile;
  const nodes = new Map(profile.nodes.map((node) => [node.id, inSource(node)]));
  const callers = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  /** The name of the innermost call on the stack that has one. */
  const innermost = (node: ProfileNode, nameOf: (at: ProfileNode) => string | undefined) => {
    for (let at: ProfileNode | undefined = node; at; at = nodes.get(callers.get(at.id) ?? -1)) {
      const name = nameOf(at);
      if (name !== undefined) return name;
    }
    return undefined;
  };
  const partOf = (node: ProfileNode) =>
    innermost(node, (at) => PARTS.find(([, members]) => members.test(moduleOf(at)))?.[0]) ?? RUNTIME;
  /** The innermost own file; what is outside of all is the runtime's or a package's own event. */
  const areaOf = (node: ProfileNode) => {
    const module = moduleOf(node);
    const outside = module.startsWith('package') ? `${module}, by itself` : RUNTIME;
    return innermost(node, (at) => OWN_FILE.exec(at.callFrame.url)?.[1]) ?? outside;
  };
  const parts = new Map<string, number>();
  const areas = new Map<string, number>();
  const modules = new Map<string, number>();
  const functions = new Map<string, number>();
  let busyUs = 0;
  for (const [index, id] of profile.samples.entries()) {
    const node = nodes.get(id);
    const us = profile.timeDeltas[index] ?? 0;
    if (!node || NOT_WORK.test(`${node.callFrame.functionName} ${node.callFrame.url}`)) continue;
    busyUs += us;
    const add = (sums: Map<string, number>, name: string) => sums.set(name, (sums.get(name) ?? 0) + us);
    const { functionName, lineNumber } = node.callFrame;
    const engine = ENGINE.has(functionName) ? functionName : undefined;
    add(parts, engine ?? partOf(node));
    add(areas, engine ?? areaOf(node));
    add(modules, moduleOf(node));
    add(functions, `${functionName || '(anonymous)'}, ${moduleOf(node)}:${lineNumber + 1}`);
  }
  process.stdout.write(`${(busyUs / requests).toFixed(1)} µs busy.\n`);
  for (const [title, sums] of [
    ['part', parts],
    ['on behalf of', areas],
    ['in', modules],
    ['function', functions],
  ] as const) {
    const rows = table(title, sums, busyUs);
    process.stdout.write(`\n${values.markdown ? inMarkdown(rows) : inColumns(rows)}`);
  }
}

const [file] = positionals;
if (file === undefined || !(requests >= 1)) throw new Error('usage: profile-areas.ts FILE [--requests N]');
await main(file);
