import type { Endpoint } from '../endpoint.ts';
import { endpoints as allEndpoints } from '../endpoints/index.ts';
import type { NamedSchemas } from '../json-schema.ts';
import { SECTIONS, sectionsOf } from '../sections.ts';
import { endpointFile, fileNameOf, GENERATED, isInputOptional, typeNameOf } from './endpoint-file.ts';
import { docLines, typeText } from './type-text.ts';

/** The folder of the SDK whose files are all generated. */
export const SDK_FOLDER = 'sdk/src/generated';

/**
 * The generated files of the SDK, by path from the repository root. They import nothing outside the SDK: types inferred from
 * the schemas would bring zod and the server's rules into every page, and an editor could not show them.
 */
export function generatedSdk(endpoints: readonly Endpoint[] = allEndpoints): Record<string, string> {
  const named: NamedSchemas = {};
  const files = Object.fromEntries(
    endpoints.map((endpoint) => [
      `${SDK_FOLDER}/${fileNameOf(endpoint.name)}.ts`,
      endpointFile(endpoint, named),
    ]),
  );
  return {
    ...files,
    [`${SDK_FOLDER}/schemas.ts`]: schemasFile(named),
    [`${SDK_FOLDER}/sections.ts`]: sectionsFile(endpoints),
    [`${SDK_FOLDER}/calls.ts`]: callsFile(endpoints),
    [`${SDK_FOLDER}/index.ts`]: indexFile(endpoints),
  };
}

function schemasFile(named: NamedSchemas): string {
  const types = Object.entries(named)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => {
      const text = typeText(schema, { named, side: 'got', references: new Set() }, 0);
      return [...docLines(schema.description ?? '', 0), `export interface ${name} ${text}`].join('\n');
    });
  return `${[GENERATED, ...types].join('\n\n')}\n`;
}

const byName = (endpoints: readonly Endpoint[]) =>
  endpoints.toSorted((a, b) => (fileNameOf(a.name) < fileNameOf(b.name) ? -1 : 1));

// The methods are written out, and not mapped from the calls, so that an editor shows each with its documentation.
function sectionsFile(endpoints: readonly Endpoint[]): string {
  const imports = byName(endpoints).map(
    ({ name }) =>
      `import type { ${typeNameOf(name)}Input, ${typeNameOf(name)}Reply } from './${fileNameOf(name)}.ts';`,
  );
  const sections = sectionsOf(endpoints).map((section) => [
    ...docLines(SECTIONS[section], 1),
    `  readonly ${section}: {`,
    ...endpoints.filter((endpoint) => endpoint.section === section).flatMap(methodLines),
    '  };',
  ]);
  return `${[
    `${GENERATED}\n\n${["import type { CallOptions } from '../call.ts';", ...imports].join('\n')}`,
    ['/** The calls of the API, by section. */', 'export interface Sections {', ...sections.flat(), '}'].join(
      '\n',
    ),
  ].join('\n\n')}\n`;
}

function methodLines(endpoint: Endpoint): string[] {
  const type = typeNameOf(endpoint.name);
  const optional = isInputOptional(endpoint) ? '?' : '';
  const line = `    ${endpoint.name}(input${optional}: ${type}Input, options?: CallOptions): Promise<${type}Reply>;`;
  return [...docLines(endpoint.summary, 2), line];
}

function callsFile(endpoints: readonly Endpoint[]): string {
  const imports = byName(endpoints).map(
    ({ name }) =>
      `import { ${name}, type ${typeNameOf(name)}Input, type ${typeNameOf(name)}Reply } from './${fileNameOf(name)}.ts';`,
  );
  const sections = sectionsOf(endpoints).map((section) => {
    const names = endpoints.filter((endpoint) => endpoint.section === section).map(({ name }) => name);
    return `  ${section}: { ${names.join(', ')} },`;
  });
  const types = (kind: 'Input' | 'Reply') =>
    endpoints.map(({ name }) => `  readonly ${name}: ${typeNameOf(name)}${kind};`);
  return `${[
    `${GENERATED}\n\n${imports.join('\n')}`,
    ['/** Every call of the API, by section. */', 'export const calls = {', ...sections, '} as const;'].join(
      '\n',
    ),
    ['/** The input of each call. */', 'export interface Inputs {', ...types('Input'), '}'].join('\n'),
    ['/** The reply of each call. */', 'export interface Replies {', ...types('Reply'), '}'].join('\n'),
  ].join('\n\n')}\n`;
}

function indexFile(endpoints: readonly Endpoint[]): string {
  const lines = byName(endpoints).map(
    ({ name }) =>
      `export type { ${typeNameOf(name)}Input, ${typeNameOf(name)}Reply } from './${fileNameOf(name)}.ts';`,
  );
  return `${GENERATED}\n\n${[
    "export type { Inputs, Replies } from './calls.ts';",
    ...lines,
    "export type * from './schemas.ts';",
    "export type { Sections } from './sections.ts';",
  ].join('\n')}\n`;
}
