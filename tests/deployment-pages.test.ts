import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createTestDatabase } from '@gatehouse/store/testing';
import { parse } from 'yaml';
import { childEnvironment } from './child-environment.ts';
import { runCommand } from './command-process.ts';
import { DEPLOYMENT_BLOCKS } from './deployment-blocks.ts';
import { readDrillCommand } from './drills/command-line.ts';
import { DRILLS } from './drills/table.ts';

const root = join(import.meta.dirname, '..');

interface Block {
  readonly page: string;
  readonly lines: readonly string[];
  /** The text of its section, with that of the sections around it. */
  readonly above: string;
}

const blocks: Block[] = [];

/** The heading and the text before the block, up to a heading of the page's second level. */
function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map((match) => {
    const before = text.slice(0, match.index);
    const end = text.slice(match.index).search(/\n##? /);
    return {
      page,
      lines: (match[1] ?? '').trimEnd().split('\n'),
      above: text.slice(
        Math.max(0, before.lastIndexOf('\n## ')),
        match.index + (end < 0 ? text.length : end),
      ),
    };
  });
}

const block = (page: string, starts: string): readonly string[] =>
  blocks.find((one) => one.page === page && one.lines[0]?.startsWith(starts))?.lines ??
  assert.fail(`${page} has no block that starts with ${starts}`);

/** As a reader runs them: without the prompt and what is said about them. */
const commandsOf = (lines: readonly string[]) => lines.map((line) => line.replace(/^\$ | +# .*$/g, ''));

describe('the pages that a deployment follows', () => {
  before(async () => {
    for (const page of Object.keys(DEPLOYMENT_BLOCKS))
      blocks.push(...blocksOf(page, await readFile(join(root, page), 'utf8')));
  });

  it('have blocks that are all settled, in this order', () => {
    for (const [page, settled] of Object.entries(DEPLOYMENT_BLOCKS)) {
      const own = blocks.filter((one) => one.page === page);
      assert.deepEqual(
        own.map(({ lines: [first = ''] }, index) => first.slice(0, settled[index]?.[0].length ?? 40)),
        settled.map(([starts]) => starts),
        page,
      );
    }
  });

  it('say of what was not run that it was not, and of the rest a test that runs it', async () => {
    for (const [page, settled] of Object.entries(DEPLOYMENT_BLOCKS)) {
      const own = blocks.filter((one) => one.page === page);
      for (const [index, [starts, how]] of settled.entries()) {
        if (how.is === 'untried') assert.ok(own[index]?.above.includes(how.says), `${page}: ${starts}`);
        if (how.is !== 'run') continue;
        const source = await readFile(join(root, how.by), 'utf8');
        assert.ok(source.includes(how.words), `${how.by} does not run ${starts}`);
      }
    }
  });

  it('name for each program that was run a drill or test that exists, its version and the day', async () => {
    const [, section = ''] = (await readFile(join(root, 'docs/deployment.md'), 'utf8')).split(
      '\n## What was run\n',
    );
    const rows = section
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(1)
      .map((line) =>
        line
          .split('|')
          .map((cell) => cell.trim())
          .slice(1),
      );
    const today = new Date().toISOString().slice(0, 10);
    for (const [what = '', by = '', version = '', day = ''] of rows) {
      if (by.startsWith('not run: ')) continue;
      const drills = [...by.matchAll(/`npm run drill -- ([^`]+)`/g)].map(([, words = '']) =>
        words.split(' '),
      );
      assert.ok(drills.length > 0 || by.includes('.test.ts)'), what);
      // Throws for a drill or a part that there is not. That links lead somewhere is tested for all pages.
      for (const words of drills) readDrillCommand(words);
      assert.match(version, /^\d+(\.\d+)*$/, what);
      assert.ok(/^\d{4}-\d\d-\d\d$/.test(day) && day <= today, `${what}: ${day}`);
    }
    const named = rows.map(([what]) => what).join();
    for (const program of [
      'Caddy',
      'nginx',
      'HAProxy',
      'PostgreSQL',
      'PgBouncer',
      'Redis',
      'Prometheus',
      'image',
      '512 MB',
      'systemd',
      'chart',
      'compose',
    ])
      assert.ok(named.includes(program), program);
  });

  it('count the packages that are installed on Linux x64, with and without those for development', async () => {
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, Record<'os' | 'cpu' | 'libc', string[]> & { link?: true; dev?: true }>;
    };
    const here = Object.entries(lock.packages)
      .filter(([path, { link }]) => path.includes('node_modules/') && !link)
      .map(([, one]) => one)
      .filter(({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }) =>
        [os.includes('linux'), cpu.includes('x64'), libc.includes('glibc')].every(Boolean),
      );
    const forProduction = here.filter(({ dev }) => !dev).length;
    const page = (path: string) => readFile(join(root, path), 'utf8');
    assert.match(await page('docs/deployment.md'), new RegExp(`installs ${forProduction} packages, \\d+ MB`));
    assert.match(
      (await page('docs/operations.md')).replaceAll('\n', ' '),
      new RegExp(` ${forProduction} packages, \\d+ MB on Linux x64 \\(${here.length} packages and `),
    );
  });

  it('name scripts and drills that exist', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const names = new Set<string>(DRILLS.map(({ name }) => name));
    let count = 0;
    for (const page of Object.keys(DEPLOYMENT_BLOCKS)) {
      const text = await readFile(join(root, page), 'utf8');
      for (const [command, script = '', drill] of text.matchAll(/npm run ([a-z]+)(?: -- ([a-z][a-z-]+))?/g)) {
        assert.ok(script in scripts, `${page}: ${command}`);
        if (script === 'drill' && drill !== undefined) assert.ok(names.has(drill), `${page}: ${command}`);
        count += 1;
      }
    }
    assert.ok(count > 5, `${count} commands`);
  });

  it('calculate the size of a deployment', async () => {
    const [command = ''] = commandsOf(block('docs/scaling.md', '$ gatehouse size'));
    const { code, stdout, stderr } = await runCommand(command.split(' ').slice(1));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /PostgreSQL/);
  });

  it('build the page and the program without a start', () => {
    const [command = ''] = commandsOf(block('docs/deployment.md', 'npm run build'));
    // The Node of the machine may be older than the project's, which npm finds.
    const path = (process.env['PATH'] ?? '')
      .split(':')
      .filter((folder) => !folder.endsWith('node_modules/.bin'));
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      cwd: root,
      env: { ...childEnvironment(), PATH: path.join(':') },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });

  it('give a login without CREATEROLE what it needs, by the statements for an administrator', async () => {
    await using test = await createTestDatabase();
    const client = await test.owner.connect();
    const [login, suffix] = [`login_${randomUUID().slice(0, 8)}`, `_${randomUUID().slice(0, 8)}`];
    try {
      // The roles belong to the whole server, which other tests use: here they have other names, and nothing is kept.
      await client.query('BEGIN');
      await client.query(`CREATE ROLE ${login} LOGIN`);
      const lines = block('docs/operations.md', 'CREATE ROLE gatehouse_service');
      assert.match(lines.at(-1) ?? '', / TO gatehouse;/);
      for (const line of lines)
        await client.query(
          line
            .replaceAll(/gatehouse_\w+/g, (role) => role + suffix)
            .replace(' TO gatehouse;', ` TO ${login};`),
        );
      const { rows } = await client.query(
        `SELECT rolname, rolcanlogin, pg_has_role('${login}', oid, 'MEMBER') AS member
         FROM pg_roles WHERE rolname LIKE '%${suffix}' ORDER BY rolname`,
      );
      const role = (name: string) => ({ rolname: `${name}${suffix}`, rolcanlogin: false, member: true });
      assert.deepEqual(rows, [role('gatehouse_retention'), role('gatehouse_service')]);
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
  });

  it('scrape what the alerts expect, on the port that the page opens', async () => {
    const { scrape_configs: documented } = parse(block('docs/monitoring.md', 'scrape_configs:').join('\n'));
    const file = parse(await readFile(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8'));
    const jobs = (configs: readonly { job_name: string; static_configs: unknown }[]) =>
      configs.map(({ job_name, static_configs }) => ({ job_name, static_configs }));
    assert.deepEqual(jobs(documented), jobs(file.scrape_configs));
    const [, port] = /^METRICS_PORT=(\d+) /.exec(block('docs/monitoring.md', 'METRICS_PORT=')[0] ?? '') ?? [];
    assert.deepEqual(documented[0].static_configs, [{ targets: [`127.0.0.1:${port}`] }]);
  });
});
