import type { Endpoint } from './endpoint.ts';
import { type JsonSchema, type NamedSchemas, resolved } from './json-schema.ts';
import { inputFields } from './sdk/endpoint-file.ts';

/** A call as a program or a shell makes it, beside its description: the extension `x-codeSamples` of OpenAPI. */
export interface CodeSample {
  readonly lang: 'Shell' | 'TypeScript' | 'JavaScript';
  readonly label: 'curl' | 'SDK';
  readonly source: string;
}

const SOME_ID = '3f2b8c1e-5d47-4a6b-9c0d-7e8f9a0b1c2d';

/** A value that the schema admits: its example where it has one, and of an object what is required. */
export function exampleOf(given: JsonSchema, named: Readonly<NamedSchemas>): unknown {
  const schema = resolved(given, named);
  const [example] = schema.examples ?? [];
  if (example !== undefined) return example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [option] = schema.anyOf ?? schema.oneOf ?? [];
  if (option) return exampleOf(option, named);
  const type = [schema.type ?? 'object'].flat()[0];
  if (type === 'object') {
    const required = schema.required ?? [];
    return Object.fromEntries(
      required.map((name) => [name, exampleOf(schema.properties?.[name] ?? {}, named)]),
    );
  }
  if (type === 'array') return schema.items ? [exampleOf(schema.items, named)] : [];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  if (schema.format === 'uuid') return SOME_ID;
  return schema.format === 'date-time' ? '2026-12-31T00:00:00Z' : 'text';
}

/** The arguments of curl that send a body. Within single quotes a shell expands nothing. */
export function jsonArguments(body: unknown): string[] {
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return [`-H 'Content-Type: application/json'`, `--data-raw '${text}'`];
}

/** One command, an argument a line. */
export function shellCommand(parts: readonly string[]): string {
  return parts.join(' \\\n  ');
}

/** The call of an endpoint by curl, and by the SDK, with what is required. */
export function endpointSamples(endpoint: Endpoint, named: NamedSchemas): CodeSample[] {
  const { method, access, setsCookies, section, name } = endpoint;
  const fields = inputFields(endpoint, named).filter(({ isRequired }) => isRequired);
  const values = fields.map(({ schema, goesTo, ...field }) => ({
    ...field,
    goesTo,
    value: goesTo === 'path' && field.name.endsWith('_id') ? SOME_ID : exampleOf(schema, named),
  }));
  const sent = (part: (typeof values)[number]['goesTo']) => values.filter(({ goesTo }) => goesTo === part);
  const path = sent('path').reduce(
    (text, { name: parameter, value }) => text.replace(`{${parameter}}`, encodeURIComponent(String(value))),
    endpoint.path as string,
  );
  const query = new URLSearchParams(
    sent('query').map(({ wireName, value }): [string, string] => [wireName, String(value)]),
  );
  const body = Object.fromEntries(sent('body').map(({ wireName, value }) => [wireName, value]));
  const input = Object.fromEntries(values.map(({ name: field, value }) => [field, value]));
  return [
    {
      lang: 'Shell',
      label: 'curl',
      source: shellCommand([
        `curl -sS ${method === 'GET' ? '' : `-X ${method} `}'${`http://localhost:8080/api${path}${query.size > 0 ? `?${query}` : ''}`}'`,
        ...(access === 'session' || setsCookies ? ['-b cookies.txt'] : []),
        ...(setsCookies ? ['-c cookies.txt'] : []),
        ...(endpoint.body ? jsonArguments(body) : []),
      ]),
    },
    {
      lang: 'TypeScript',
      label: 'SDK',
      source: `await client.${section}.${name}(${fields.length === 0 ? '' : JSON.stringify(input, null, 2)});`,
    },
  ];
}
