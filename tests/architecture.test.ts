import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import { endpoints } from '@gatehouse/contract';

// The rules of this repository, each with its reason.

const root = join(import.meta.dirname, '..');

interface Source {
  readonly path: string;
  readonly text: string;
  /** Its imports: paths from the root for own files, package names for the rest. */
  readonly imports: readonly string[];
  /** Its imports at run time. */
  readonly runtimeImports: readonly string[];
}

/** The workspaces that each workspace may import. */
const ARROWS: Record<string, readonly string[]> = {
  concurrency: [],
  contract: [],
  http: ['concurrency', 'contract'],
  observability: [],
  store: ['concurrency', 'contract'],
  embedded: ['concurrency', 'contract', 'store'],
  traffic: ['contract', 'store'],
  'control-plane': ['concurrency', 'contract', 'http', 'observability', 'store'],
  gateway: ['concurrency', 'contract', 'http', 'observability', 'store'],
  sdk: [],
  dashboard: ['sdk'],
  cli: [
    ...['concurrency', 'contract', 'embedded', 'http', 'observability', 'store', 'traffic'],
    ...['control-plane', 'gateway', 'dashboard', 'sdk'],
  ],
  tests: [
    ...[
      'concurrency',
      'contract',
      'embedded',
      'http',
      'observability',
      'store',
      'control-plane',
      'gateway',
      'sdk',
    ],
    'cli',
  ],
  bench: [
    'concurrency',
    'contract',
    'embedded',
    'http',
    'store',
    'traffic',
    'control-plane',
    'gateway',
    'cli',
    'tests',
  ],
};
/**
 * Tests may import more. Some need an engine that they can kill or starve, and `embedded` is how one is started; what a
 * workspace ships never imports it, so the product runs as well on external stores.
 */
const TEST_ARROWS: Record<string, readonly string[]> = {
  store: ['embedded'],
  'control-plane': ['embedded'],
  gateway: ['embedded'],
};
const WORKSPACES = Object.keys(ARROWS);

/** The folders of a workspace from the ground up. The files beside them, and what tests need, come last. */
const FLOORS: Record<string, readonly string[]> = {
  'gateway/src': [
    // What any gateway needs, then what a request is, then one attempt at a provider, then the rules and who serves them.
    ...['wire', 'errors', 'catalogue', 'journal', 'tokens', 'bodies', 'rates', 'exchange'],
    ...['formats', 'credit', 'demo', 'readers', 'providers', 'routing', 'kept-items', 'context'],
    ...['attempt', 'http', 'observed', 'steps', 'discovery', 'endpoints', 'check'],
  ],
  'cli/src': [
    ...['terminal', 'config', 'log', 'listen', 'vault', 'stores', 'metrics', 'otlp'],
    ...['process', 'service', 'sizing', 'commands'],
  ],
  'dashboard/src': ['browser', 'format', 'session', 'api', 'ui', 'charts', 'app', 'pages', 'routes'],
};

let sources: Source[] = [];

async function readSources(): Promise<Source[]> {
  const paths = await Array.fromAsync(
    glob(`{${WORKSPACES.join()}}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/node_modules/**', '*/dist/**'] }),
  );
  return Promise.all(
    paths.sort().map(async (path) => {
      const text = await readFile(join(root, path), 'utf8');
      const named = (code: string) =>
        [
          ...code.matchAll(
            /^(?:import|export)\b[^;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
          ),
        ]
          .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
          .map((name) => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name));
      const withoutTypes = text.replace(/^(?:import|export) type [^;]*;/gm, '');
      return { path, text, imports: named(text), runtimeImports: named(withoutTypes) };
    }),
  );
}

const isTest = (path: string) =>
  /\.test\.ts$|\.fixture\.ts$|\/testing(\/|\.ts$)/.test(path) || path.startsWith('tests/');

function none(offenders: readonly string[], law: string): void {
  assert.deepEqual(offenders, [], law);
}

describe('architecture', () => {
  before(async () => {
    sources = await readSources();
    assert.ok(sources.length > 50, 'the sources were not found');
  });

  it('workspaces point one way: the API and the gateway meet only in the database and the contract', () => {
    // Either can then be deployed, scaled and restarted alone.
    const ofWorkspace = new RegExp(`^@gatehouse/([^/]+)|^(${WORKSPACES.join('|')})/`);
    const mayImport = (path: string, target: string) => {
      const own = path.split('/')[0] as string;
      return (
        target === own ||
        ARROWS[own]?.includes(target) ||
        (isTest(path) && TEST_ARROWS[own]?.includes(target))
      );
    };
    none(
      sources.flatMap(({ path, imports }) =>
        imports
          .map((name) => ofWorkspace.exec(name))
          .flatMap((match) => match?.[1] ?? match?.[2] ?? [])
          .filter((target) => !mayImport(path, target))
          .map((target) => `${path} imports ${target}`),
      ),
      'see the table of arrows in ARCHITECTURE.md',
    );
  });

  it('other workspaces are imported by name, so that only their exports are used', () => {
    none(
      sources.flatMap(({ path, imports }) =>
        imports
          .filter((name) => WORKSPACES.includes(name.split('/')[0] ?? ''))
          .filter((name) => name.split('/')[0] !== path.split('/')[0])
          // Tests and benchmarks export nothing else.
          .filter((name) => !/^(tests|bench)\//.test(name))
          .map((name) => `${path} imports ${name}`),
      ),
      'import @gatehouse/<workspace>',
    );
  });

  it('a section of the control plane uses only earlier sections, and only what their index.ts exports', () => {
    // An order has no cycles: everything that a section needs comes before it.
    const order = [
      'activity',
      'organization',
      'ledger',
      'auth',
      'service',
      'catalogue',
      'keys',
      'vault',
      'analytics',
    ];
    const sectionOf = (path: string) => /^control-plane\/src\/([^/]+)\//.exec(path)?.[1] ?? '';
    none(
      sources
        .filter(({ path }) => order.includes(sectionOf(path)) && !isTest(path))
        .flatMap(({ path, imports }) =>
          imports
            .filter((name) => order.includes(sectionOf(name)) && sectionOf(name) !== sectionOf(path))
            .filter(
              (name) =>
                !name.endsWith('/index.ts') ||
                order.indexOf(sectionOf(name)) > order.indexOf(sectionOf(path)),
            )
            .map((name) => `${path} imports ${name}`),
        ),
      order.join(' < '),
    );
  });

  it('a folder imports only folders of the floors below it', () => {
    // Floors have no circles: each can be read, tested and changed without what is built on it.
    none(
      Object.entries(FLOORS).flatMap(([workspace, floors]) => {
        const floorOf = (path: string) => {
          const folder = path.slice(workspace.length + 1).match(/^([^/]+)\//)?.[1];
          return folder === undefined || folder === 'testing' ? floors.length : floors.indexOf(folder);
        };
        const own = sources.filter(({ path }) => path.startsWith(`${workspace}/`) && !isTest(path));
        assert.ok(own.length > 0, workspace);
        return own.flatMap(({ path, imports }) => [
          ...(floorOf(path) === -1 ? [`${path} is on no floor`] : []),
          ...imports
            .filter((name) => name.startsWith(`${workspace}/`) && floorOf(name) > floorOf(path))
            .map((name) => `${path} imports ${name}`),
        ]);
      }),
      Object.values(FLOORS)
        .map((floors) => floors.join(' < '))
        .join('\n'),
    );
  });

  it('the HTTP adapter knows no section', () => {
    none(
      sources
        .filter(({ path }) => path.startsWith('control-plane/src/http/') && !isTest(path))
        .flatMap(({ path, imports }) =>
          imports
            .filter(
              (name) => name.startsWith('control-plane/src/') && !name.startsWith('control-plane/src/http/'),
            )
            .map((name) => `${path} imports ${name}`),
        ),
      'sections are handed to it by app.ts',
    );
  });

  it('SQL is written in queries.ts and telemetry.ts only', () => {
    // The file name finds every statement that uses a table.
    const sql = /\b(SELECT\s[\s\S]*?\bFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\b/;
    none(
      sources
        .filter(({ path }) => /^(control-plane|gateway)\//.test(path) && !isTest(path))
        .filter(({ path }) => !/\/(queries|telemetry)\.ts$/.test(path))
        .filter(({ text }) => sql.test(text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')))
        .map(({ path }) => path),
      'move the statement',
    );
  });

  it('a section records with the `record` of its handler', () => {
    // A handler's recorder knows the declared events, the actor and the source address. `recordsFrom` takes any event, so
    // only work without an endpoint calls it: operator commands and the demo. The API hands it to its server.
    const may =
      /^control-plane\/src\/(activity\/|index\.ts$|app\.ts$|demo-organization\.ts$|http\/(server|navigate)\.ts$)|^cli\/src\/commands\//;
    none(
      sources
        .filter(({ path }) => !isTest(path) && !path.startsWith('bench/') && !may.test(path))
        .filter(({ text }) => /\brecordsFrom\b/.test(text))
        .map(({ path }) => path),
      'use `record` or `recorderFor` of the request',
    );
  });

  it('the environment is read in one place', () => {
    // Everything else takes its settings as arguments, so that a test can pass others.
    const places = ['cli/src/main.ts', 'store/src/testing/', 'concurrency/src/testing/', 'tests/', 'bench/'];
    none(
      sources
        // A test that starts a process passes it an environment.
        .filter(({ path }) => !path.endsWith('.test.ts') && !places.some((place) => path.startsWith(place)))
        .filter(({ text }) => /process\.env\b/.test(text))
        .map(({ path }) => path),
      places.join(', '),
    );
  });

  it('no code ends the process: it returns, so that every resource is closed', () => {
    // The main file of a process may: nothing outlives it.
    none(
      sources
        .filter(
          ({ path, text }) => /process\.exit\(/.test(text) && !isTest(path) && !path.endsWith('-main.ts'),
        )
        .map(({ path }) => path),
      'set process.exitCode, or throw',
    );
  });

  it('no product file imports test machinery', () => {
    // Crash simulators, fixtures and test servers are under testing/, and no test could tell if the product used them.
    none(
      sources
        .filter(({ path }) => !isTest(path) && !path.startsWith('bench/'))
        .flatMap(({ path, imports }) =>
          imports
            .filter(
              (name) => (name.endsWith('.ts') && isTest(name)) || /^@gatehouse\/[^/]+\/testing/.test(name),
            )
            .map((name) => `${path} imports ${name}`),
        ),
      'move what the product needs out of testing/',
    );
  });

  it('rules.ts does no I/O', () => {
    none(
      sources
        .filter(({ path }) => path.endsWith('/rules.ts'))
        .flatMap(({ path, runtimeImports }) =>
          runtimeImports
            .filter(
              (name) =>
                name !== '@gatehouse/contract' && !name.endsWith('rules.ts') && !name.endsWith('settings.ts'),
            )
            .map((name) => `${path} imports ${name}`),
        ),
      'pure decisions are tested without a database',
    );
  });

  it('the dashboard asks the browser in one folder', () => {
    // What a browser says of itself may be missing, refused or untrue. There it is checked once.
    const asks =
      /\b(navigator|localStorage|sessionStorage|BroadcastChannel|matchMedia|resolvedOptions|getLocalTimeZone|Notification|ResizeObserver|IntersectionObserver|randomUUID)\b|document\.(cookie|referrer)/;
    none(
      sources
        .filter(({ path }) => path.startsWith('dashboard/src/') && !path.startsWith('dashboard/src/browser/'))
        .filter(({ path, text }) => !isTest(path) && asks.test(text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')))
        .map(({ path }) => path),
      'move it to dashboard/src/browser/',
    );
    none(
      sources
        .filter(
          ({ path }) =>
            /^dashboard\/src\/(?!browser\/|session\/|app\/session\.ts)/.test(path) && !isTest(path),
        )
        .filter(({ text }) => /Date\.now\(\)|new Date\(\)/.test(text))
        .map(({ path }) => path),
      'use `now` of dashboard/src/browser/clock.ts: a device may be years off. A session counts how much time has passed',
    );
  });

  it('no folder or file has a name that fits everything', () => {
    none(
      sources
        .filter(({ path }) => /(^|\/)(shared|common|utils?|core|helpers?|misc|manager)(\/|\.ts$)/.test(path))
        .map(({ path }) => path),
      'name it by what it holds',
    );
  });

  it('a setting of a route is named in at most five files, beside the steps that use it', () => {
    // Where it is stored, the list, the file that states it, what the gateway calls it: these are all the places. Everything
    // else that reads, writes, compares or shows a route takes the document of all settings (store/src/postgres/route-settings.ts).
    const named = (setting: string) =>
      new RegExp(
        `\\b(${setting}|${setting.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())})\\b`,
      );
    for (const setting of ['queue_ms', 'max_attempts']) {
      const files = sources
        .filter(({ path, text }) => !isTest(path) && !path.startsWith('bench/') && named(setting).test(text))
        .map(({ path }) => path);
      assert.ok(files.includes('store/src/postgres/route-settings.ts'), setting);
      const others = files.filter((path) => !path.startsWith('gateway/src/steps/'));
      // And the migration, which is no TypeScript.
      assert.ok(others.length <= 4, `${setting}: ${others.join(', ')}`);
    }
  });

  it('a file does one job, which 300 lines hold', () => {
    none(
      sources
        // A generated file is as long as what it is generated from.
        .filter(({ path }) => !isTest(path) && !path.startsWith('sdk/src/generated/'))
        .filter(({ text }) => text.split('\n').length > 301)
        .map(({ path, text }) => `${path}: ${text.split('\n').length}`),
      'split it by noun',
    );
  });

  it('every endpoint of the contract has the file of its name', () => {
    const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const paths = new Set(sources.map(({ path }) => path));
    none(
      endpoints
        .map(({ section, name }) => `control-plane/src/${section}/${kebab(name)}.ts`)
        .filter((path) => !paths.has(path)),
      'a newcomer finds the code of an endpoint by its name',
    );
  });

  it('every package that is imported is declared by the workspace, in one exact version', async () => {
    const offenders: string[] = [];
    for (const workspace of WORKSPACES) {
      const manifest = JSON.parse(await readFile(join(root, workspace, 'package.json'), 'utf8')) as Record<
        string,
        Record<string, string> | undefined
      >;
      const declared = { ...manifest['dependencies'], ...manifest['optionalDependencies'] };
      const declaredForTests = { ...declared, ...manifest['devDependencies'] };
      for (const [name, version] of Object.entries(declaredForTests)) {
        if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) offenders.push(`${workspace}: ${name} ${version}`);
      }
      for (const { path, imports } of sources.filter((source) => source.path.startsWith(`${workspace}/`))) {
        for (const name of imports.filter((text) => !/^node:|\.(tsx?|mjs|css)$/.test(text))) {
          const packageName = name.split('/', name.startsWith('@') ? 2 : 1).join('/');
          const isOwn = packageName === manifest['name']?.toString();
          if (!isOwn && !(packageName in (isTest(path) ? declaredForTests : declared)))
            offenders.push(`${relative('.', path)} imports ${name}`);
        }
      }
    }
    none(offenders, 'otherwise it works only by what another workspace happens to install');
  });

  it('packages for tests and benchmarks only are not installed for production', async () => {
    const dependenciesOf = async (workspace: string) => {
      const text = await readFile(join(root, workspace, 'package.json'), 'utf8');
      return Object.keys((JSON.parse(text) as { dependencies?: object }).dependencies ?? {});
    };
    const shipped = await Promise.all(
      WORKSPACES.filter((name) => name !== 'tests' && name !== 'bench').map((name) => dependenciesOf(name)),
    );
    const runs = new Set([...shipped.flat(), 'gatehouse', '@gatehouse/tests']);
    const offenders: string[] = [];
    for (const workspace of ['tests', 'bench'])
      offenders.push(...(await dependenciesOf(workspace)).filter((name) => !runs.has(name)));
    none(offenders, 'npm start leaves devDependencies out: declare it there');
  });
});
