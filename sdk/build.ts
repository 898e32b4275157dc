import { execFile } from 'node:child_process';
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

// Builds the package as it is published. `npm publish sdk/dist` publishes it.

const here = import.meta.dirname;

/** Writes the package into a folder, which it empties first: JavaScript, types, manifest, README, licence. */
export async function buildSdk(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await compile(folder);
  // A declaration that names a `.ts` file depends on how the compiler of the reader resolves it.
  for await (const path of glob('**/*.d.ts', { cwd: folder })) {
    const text = await readFile(join(folder, path), 'utf8');
    await writeFile(join(folder, path), text.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"));
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
  await cp(join(here, 'README.md'), join(folder, 'README.md'));
  await cp(join(here, '../LICENSE'), join(folder, 'LICENSE'));
}

async function compile(folder: string): Promise<void> {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const args = [join(typescript, 'bin/tsc'), '-p', join(here, 'tsconfig.build.json'), '--outDir', folder];
  await promisify(execFile)(process.execPath, args);
}

async function manifest(): Promise<Record<string, unknown>> {
  const own = JSON.parse(await readFile(join(here, 'package.json'), 'utf8')) as Record<string, unknown>;
  return {
    name: own['name'],
    version: own['version'],
    description: 'The typed client of the Gatehouse API',
    license: own['license'],
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
  };
}

if (import.meta.main) await buildSdk(join(here, 'dist'));
