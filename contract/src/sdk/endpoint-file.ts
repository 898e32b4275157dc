import type { z } from 'zod';
import { type Endpoint, pathParameters } from '../endpoint.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas, resolved } from '../json-schema.ts';
import { headerName } from '../openapi.ts';
import { docLines, literal, objectText, propertyKey, propertyLines, type TypeWriter } from './type-text.ts';

/** `createKey` becomes `create-key`, the name of its file. */
export function fileNameOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `createKey` becomes `CreateKey`, the lead of its types. */
export function typeNameOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

interface InputField {
  readonly name: string;
  /** The name on the wire, which differs only for headers. */
  readonly wireName: string;
  readonly goesTo: 'path' | 'query' | 'headers' | 'body';
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
}

/** Every field of an endpoint's input. Throws where two have one name, because an input is flat. */
export function inputFields(endpoint: Endpoint, named: NamedSchemas): InputField[] {
  const fields: InputField[] = [
    ...pathParameters(endpoint.path).map((name) => ({
      name,
      wireName: name,
      goesTo: 'path' as const,
      isRequired: true,
      schema: { type: 'string' },
    })),
    ...fieldsIn('query', endpoint.query, named),
    ...fieldsIn('headers', endpoint.headers, named),
    ...(endpoint.body ? fieldsIn('body', endpoint.body, named) : []),
  ];
  const names = new Set(fields.map(({ name }) => name));
  if (names.size < fields.length) throw new Error(`${endpoint.name} has two inputs of one name`);
  return fields;
}

function fieldsIn(
  goesTo: 'query' | 'headers' | 'body',
  fields: z.ZodObject,
  named: NamedSchemas,
): InputField[] {
  const object = jsonSchema(fields, 'sent', named);
  return Object.entries(object.properties ?? {}).map(([wireName, schema]) => ({
    name: wireName.replaceAll('-', '_'),
    wireName,
    goesTo,
    isRequired: object.required?.includes(wireName) ?? false,
    schema,
  }));
}

/** True if the input may be left out. */
export function isInputOptional(endpoint: Endpoint): boolean {
  return inputFields(endpoint, {}).every(({ isRequired }) => !isRequired);
}

/** The types of an endpoint and its call, as a file of the SDK. */
export function endpointFile(endpoint: Endpoint, named: NamedSchemas): string {
  const input = writer(named, 'sent');
  const reply = writer(named, 'got');
  const typeName = typeNameOf(endpoint.name);
  const fields = inputFields(endpoint, named);
  const inputText =
    fields.length === 0
      ? `/** \`${endpoint.name}\` takes no input. */\nexport type ${typeName}Input = { readonly [name: string]: never };`
      : [
          `/** The input of \`${endpoint.name}\`. */`,
          `export interface ${typeName}Input {`,
          ...fields.flatMap(({ name, schema, isRequired }) =>
            propertyLines(name, schema, isRequired, input, 1),
          ),
          '}',
        ].join('\n');
  const replySchema = jsonSchema(endpoint.reply, 'got', named);
  const replyText = replySchema.$ref
    ? `/** The reply of \`${endpoint.name}\`. */\nexport type ${typeName}Reply = ${typeOf(replySchema, reply)};`
    : `/** The reply of \`${endpoint.name}\`. */\nexport interface ${typeName}Reply ${objectText(replySchema, reply, 0)}`;
  const references = [...new Set([...input.references, ...reply.references])].sort();
  const imports = [
    "import type { Call } from '../call.ts';",
    ...(references.length > 0 ? [`import type { ${references.join(', ')} } from './schemas.ts';`] : []),
  ];
  return `${[
    `${GENERATED}\n\n${imports.join('\n')}`,
    inputText,
    replyText,
    callText(endpoint, fields, resolved(replySchema, named)),
  ].join('\n\n')}\n`;
}

export const GENERATED = '// Generated from the contract by `npm run generate`; do not edit.';

function writer(named: NamedSchemas, side: 'sent' | 'got'): TypeWriter {
  return { named, side, references: new Set() };
}

function typeOf(schema: JsonSchema, of: TypeWriter): string {
  const name = schema.$ref?.split('/').at(-1) ?? '';
  of.references.add(name);
  return name;
}

function callText(endpoint: Endpoint, fields: readonly InputField[], reply: JsonSchema): string {
  const namesIn = (part: InputField['goesTo']) => fields.filter(({ goesTo }) => goesTo === part);
  const list = (names: readonly string[]) => `[${names.map(literal).join(', ')}]`;
  const headers = namesIn('headers').map(
    ({ name, wireName }) => `${propertyKey(name)}: ${literal(headerName(wireName))}`,
  );
  return [
    ...docLines(`${endpoint.method} ${endpoint.path}: ${endpoint.summary}`, 0),
    `export const ${endpoint.name} = {`,
    `  name: ${literal(endpoint.name)},`,
    `  method: ${literal(endpoint.method)},`,
    `  path: ${literal(endpoint.path)},`,
    `  query: ${list(namesIn('query').map(({ name }) => name))},`,
    `  headers: ${headers.length === 0 ? '{}' : `{ ${headers.join(', ')} }`},`,
    `  body: ${endpoint.body ? list(namesIn('body').map(({ name }) => name)) : 'undefined'},`,
    `  needsSession: ${endpoint.access === 'session'},`,
    `  setsCookies: ${endpoint.setsCookies},`,
    `  exports: ${list(endpoint.exports)},`,
    `  reply: ${list(reply.required ?? [])},`,
    '} as const satisfies Call;',
  ].join('\n');
}
