import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Resource } from './helm-chart.ts';

const types = dirname(createRequire(import.meta.url).resolve('kubernetes-types/package.json'));
const COMPILER = join(import.meta.dirname, '../node_modules/.bin/tsc');

/**
 * Compares resources with the types that Kubernetes publishes as its OpenAPI schema (kubernetes-types): members that it does not
 * know, members that it requires, and values of another type. Returns a line for each fault, with the name of the set.
 */
export function kubernetesFaults(sets: Readonly<Record<string, readonly Resource[]>>): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-kubernetes-'));
  try {
    const names = Object.keys(sets);
    for (const [index, resources] of Object.values(sets).entries())
      writeFileSync(join(directory, `set-${index}.ts`), resources.map(typed).join('\n'));
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { strict: true, noEmit: true, skipLibCheck: true, types: [], module: 'preserve' },
        include: ['*.ts'],
      }),
    );
    const { stdout } = spawnSync(COMPILER, ['-p', directory, '--pretty', 'false'], { encoding: 'utf8' });
    return [...stdout.matchAll(/set-(\d+)\.ts.*?: error TS\d+: (.*)/g)].map(
      ([, index, said]) => `${names[Number(index)]}: ${said}`,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A literal of the type of the resource, in which the compiler refuses members that the type does not have. */
function typed(resource: Resource, index: number): string {
  const { apiVersion = '', kind } = resource as Resource & { readonly apiVersion?: string };
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const file = join(types, group.replace(/\..*/, ''), `${version}`);
  return `export const resource${index}: import(${JSON.stringify(file)}).${kind} = ${JSON.stringify(resource)};`;
}
