import { join, relative } from 'node:path';
import type { BuildOptions, Message, Metafile, OutputFile } from 'esbuild';

/** The result of esbuild: the files by their path below the folder, and its metadata. */
export interface Bundle {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
}

const ENTRY = 'src/main.tsx';
/** A small classic script before all others: a dark page never flashes light, and a page that cannot start says so. */
const FIRST_SCRIPT = 'src/app/first-script.ts';

const OUTPUT = 'dist';

/** The options of esbuild, for the workspace in this folder. Nothing is written: the caller receives the files. */
export function bundleOptions(workspace: string, isForDevelopment: boolean): BuildOptions {
  return {
    absWorkingDir: workspace,
    entryPoints: [ENTRY],
    outdir: OUTPUT,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2023', 'chrome120', 'firefox121', 'safari17.2'],
    jsx: 'automatic',
    // The name changes with the content, so that a browser may keep a file for ever.
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    publicPath: '/',
    loader: { '.woff2': 'file', '.woff': 'file', '.svg': 'file', '.png': 'file' },
    // Without it, esbuild also takes the development versions of the packages.
    minify: !isForDevelopment,
    sourcemap: isForDevelopment ? 'linked' : false,
    legalComments: isForDevelopment ? 'none' : 'linked',
    charset: 'utf8',
    logLevel: 'silent',
  };
}

/** The options for the script that runs before the first paint. It is no module: a module would run after it. */
export function firstScriptOptions(workspace: string, isForDevelopment: boolean): BuildOptions {
  return {
    ...bundleOptions(workspace, isForDevelopment),
    entryPoints: [FIRST_SCRIPT],
    splitting: false,
    format: 'iife',
  };
}

interface Result {
  readonly outputFiles?: readonly OutputFile[] | undefined;
  readonly metafile?: Metafile | undefined;
  readonly warnings: readonly Message[];
}

/**
 * The files of a finished build. Throws for a warning. The style sheet of the entry has the styles of all pages; those of
 * single pages go.
 */
export function bundleOf(workspace: string, result: Result): Bundle {
  const { outputFiles = [], metafile = { inputs: {}, outputs: {} }, warnings } = result;
  // A class that a style sheet lacks is a warning, and a mistake.
  if (warnings.length > 0) throw new Error(warnings.map(inWords).join('; '));
  const unused = new Set(
    Object.values(metafile.outputs)
      .filter(({ entryPoint, cssBundle }) => entryPoint !== ENTRY && cssBundle !== undefined)
      .map(({ cssBundle }) => withoutOutput(cssBundle as string)),
  );
  const files = new Map(
    outputFiles
      .map(({ path, contents }) => [relative(join(workspace, OUTPUT), path), contents] as const)
      .filter(([path]) => !unused.has(path) && !unused.has(path.replace(/\.(map|LEGAL\.txt)$/, ''))),
  );
  return { files, metafile };
}

/** The files that the page loads first, by path below its folder: the script of the entry, its imports, and so on. */
export interface FirstLoad {
  readonly entry: string;
  readonly imports: readonly string[];
  readonly styles: string | undefined;
  /** The fonts of the text of every page. */
  readonly fonts: readonly string[];
}

const FONT_OF_TEXT = /plex-sans-latin-wght-normal-\w+\.woff2$/;

export function firstLoad({ outputs }: Metafile): FirstLoad {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY);
  if (!found) throw new Error(`the bundle has no output of ${ENTRY}`);
  const [entry, { cssBundle }] = found;
  const reached = new Set([entry]);
  // A set visits what is added during the loop.
  for (const path of reached) {
    for (const { path: target, kind, external } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && !external) reached.add(target);
  }
  reached.delete(entry);
  return {
    entry: withoutOutput(entry),
    imports: Array.from(reached, withoutOutput).sort(),
    styles: cssBundle === undefined ? undefined : withoutOutput(cssBundle),
    fonts: Object.keys(outputs)
      .filter((path) => FONT_OF_TEXT.test(path))
      .map(withoutOutput),
  };
}

function inWords({ text, location }: Message): string {
  return location ? `${location.file}:${location.line}: ${text}` : text;
}

function withoutOutput(path: string): string {
  return relative(OUTPUT, path);
}
