import assert from 'node:assert/strict';
import { access, glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { before, describe, it } from 'node:test';

// Everything that the pages name exists: links with their anchors, files, and names in code.

const root = join(import.meta.dirname, '..');
const CODE =
  'concurrency,contract,http,observability,store,embedded,traffic,control-plane,gateway,cli,sdk,dashboard,tests,bench,setup';

interface Page {
  readonly path: string;
  readonly text: string;
}

let pages: Page[] = [];
let code = '';

const exists = (path: string): Promise<boolean> =>
  access(join(root, path)).then(
    () => true,
    () => false,
  );

/** GitHub's anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/`|\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function anchorsOf(text: string): ReadonlySet<string> {
  const plain = text.replaceAll(/^```.*?^```/gms, '');
  return new Set([...plain.matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1] ?? '')));
}

/** The texts in backticks, outside code blocks. */
function quoted({ text }: Page): string[] {
  const plain = text.replaceAll(/^```.*?^```/gms, '');
  return [...plain.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
}

describe('the documentation', () => {
  before(async () => {
    const paths = await Array.fromAsync(
      glob('{*.md,docs/**/*.md,{embedded,traffic,sdk}/README.md}', { cwd: root }),
    );
    const read = async (path: string) => ({ path, text: await readFile(join(root, path), 'utf8') });
    pages = await Promise.all(paths.sort().map(read));
    const sources = await Array.fromAsync(
      glob(`{${CODE}}/**/*.{ts,tsx,sql,mjs}`, { cwd: root, exclude: ['**/node_modules/**'] }),
    );
    code = (await Promise.all(sources.map(read))).map(({ text }) => text).join('\n');
    assert.ok(pages.length > 20 && code.length > 1_000_000, 'the pages or the sources were not found');
  });

  it('links only to files and headings that exist', async () => {
    const broken: string[] = [];
    for (const { path, text } of pages) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const linked = file === '' ? path : normalize(join(dirname(path), file));
        if (!(await exists(linked))) broken.push(`${path}: ${target}`);
        else if (anchor !== undefined && linked.endsWith('.md')) {
          const page = pages.find((one) => one.path === linked);
          if (page && !anchorsOf(page.text).has(anchor)) broken.push(`${path}: ${target}`);
        }
      }
    }
    assert.deepEqual(broken, []);
  });

  it('names only files that exist', async () => {
    const missing: string[] = [];
    let count = 0;
    for (const page of pages) {
      for (const name of quoted(page)) {
        const path = /^[\w.-]+(?:\/[\w.-]+)+\.(?:ts|sql|mjs|md|yaml)$/.exec(name)?.[0];
        if (path === undefined) continue;
        count += 1;
        if (!(await exists(path)) && !(await exists(join(dirname(page.path), path))))
          missing.push(`${page.path}: ${path}`);
      }
    }
    assert.deepEqual(missing, []);
    assert.ok(count > 60, `${count} paths`);
  });

  it('ARCHITECTURE.md names only functions and types that exist', () => {
    const page = pages.find(({ path }) => path === 'ARCHITECTURE.md') as Page;
    const names = quoted(page)
      .map((name) => /^([a-z]+(?:[A-Z_][A-Za-z0-9_]*)+|[A-Z][a-z]+(?:[A-Z]\w+)+)(?:\(|$)/.exec(name)?.[1])
      .filter((name) => name !== undefined);
    assert.ok(names.length > 2, `${names.length} names`);
    assert.deepEqual(
      names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code)),
      [],
    );
  });

  it('docs/log-events.md lists every event of the log, with its level', async () => {
    const levels = await loggedEvents();
    const page = pages.find(({ path }) => path === 'docs/log-events.md') as Page;
    const rows = page.text.split(/^## /m).flatMap((section) => {
      const level = section.split('\n', 1)[0];
      const cells = [...section.matchAll(/^\| (`[a-z_.`, ]+`) \| \S/gm)].map(([, cell = '']) => cell);
      assert.deepEqual(cells, cells.toSorted());
      return cells.flatMap((cell) => cell.split(', ').map((event) => `${event.slice(1, -1)} ${level}`));
    });
    assert.deepEqual(rows.sort(), [...levels].map(([event, level]) => `${event} ${level}`).sort());
    assert.ok(rows.length > 60, `${rows.length} events`);
  });
});

/** The events that the product logs, with their levels. Some are composed; their parts are read from the types. */
async function loggedEvents(): Promise<Map<string, string>> {
  const read = (path: string) => readFile(join(root, path), 'utf8');
  const namesIn = (text: string, name: RegExp) => [...text.matchAll(name)].map((match) => match[1] ?? '');
  const events = new Map<string, string>();
  const add = (event: string, level: string) => {
    assert.equal(events.get(event) ?? level, level, `${event} has one level`);
    events.set(event, level);
  };
  const composed: string[] = [];
  const paths = await Array.fromAsync(
    glob('{cli,control-plane,embedded,gateway,http,store}/src/**/*.ts', { cwd: root }),
  );
  for (const path of paths.filter((one) => !/\.test\.ts$|\.fixture\.ts$|\/testing\//.test(one))) {
    const text = await read(path);
    if (/event: `/.test(text)) composed.push(path);
    // The level is that of the call that the event is written in, or of the next one.
    for (const match of text.matchAll(/\bevent(?:: | = )'([a-z]+\.[a-z_]+)'/g)) {
      const before = namesIn(text.slice(0, match.index), /\blog\.(error|warn|info|debug)\(\s*\{[^}]*$/g).at(
        -1,
      );
      const next = namesIn(text.slice(match.index), /\blog\.(error|warn|info|debug)\(/g)[0];
      add(match[1] ?? '', before ?? next ?? 'none');
    }
  }

  assert.deepEqual(composed.sort(), ['cli/src/log/log-store-event.ts', 'gateway/src/journal/outage.ts']);
  const outages = namesIn(await read('gateway/src/journal/open-journal.ts'), /newOutage\('(\w+)'\)/g);
  for (const name of outages) {
    add(`journal.${name}_failing`, 'error');
    add(`journal.${name}_recovered`, 'info');
  }
  const ofStores = await read('cli/src/log/log-store-event.ts');
  const harmless = namesIn(/INFO_EVENTS = [^;]*/.exec(ofStores)?.[0] ?? '', /'([a-z-]+)'/g);
  for (const [area, path, type] of [
    ['postgres', 'embedded/src/postgres/supervisor.ts', /interface SupervisorEvent \{[^;]*/],
    ['clickhouse', 'embedded/src/clickhouse/index.ts', /type EngineEvent =[\s\S]*?\n\n/],
  ] as const) {
    const kinds = namesIn(type.exec(await read(path))?.[0] ?? '', /(?:\| |kind: )'([a-z-]+)'/g);
    assert.ok(kinds.length > 2, path);
    for (const kind of kinds.filter((one) => one !== 'follower')) {
      add(`${area}.${kind.replaceAll('-', '_')}`, harmless.includes(kind) ? 'info' : 'warn');
    }
  }
  return events;
}
