import { rulesInWords } from '../fields-in-words.ts';
import { COMPONENTS, type JsonSchema, type NamedSchemas } from '../json-schema.ts';

/** Writes JSON Schemas as TypeScript and collects the named types that the text refers to. */
export interface TypeWriter {
  readonly named: NamedSchemas;
  readonly references: Set<string>;
  /** A value that a caller sends may change after the call and may be undefined; a reply is read-only. */
  readonly side: 'sent' | 'got';
}

/** The TypeScript type of a schema; objects are written over several lines at this depth of indentation. */
export function typeText(schema: JsonSchema, writer: TypeWriter, depth: number): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(COMPONENTS.length);
    writer.references.add(name);
    return name;
  }
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return union(options.map((option) => typeText(option, writer, depth)));
  if (schema.not) return 'never';
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return union(schema.enum.map(literal));
  if (schema.properties) return objectText(schema, writer, depth);
  const readonly = writer.side === 'got' ? 'readonly ' : '';
  if (typeof schema.additionalProperties === 'object')
    return `{ ${readonly}[name: string]: ${typeText(schema.additionalProperties, writer, depth)} }`;
  return union([schema.type ?? 'unknown'].flat().map((type) => plainType(type, schema, writer, depth)));
}

function plainType(type: string, schema: JsonSchema, writer: TypeWriter, depth: number): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array': {
      const items = typeText(schema.items ?? {}, writer, depth);
      const list = /^[\w.]+$/.test(items)
        ? `${items}[]`
        : items.startsWith('{')
          ? `${items}[]`
          : `(${items})[]`;
      // A caller may send a list that it cannot change.
      return `readonly ${list}`;
    }
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'unknown':
      return type;
    default:
      throw new Error(`the type ${type} has no form in TypeScript`);
  }
}

/** An object type with a documented line for each property. */
export function objectText(schema: JsonSchema, writer: TypeWriter, depth: number): string {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return '{ readonly [name: string]: never }';
  const lines = properties.flatMap(([name, property]) =>
    propertyLines(name, property, schema.required?.includes(name) ?? false, writer, depth + 1),
  );
  return ['{', ...lines, `${indentation(depth)}}`].join('\n');
}

/** A property with its documentation. */
export function propertyLines(
  name: string,
  schema: JsonSchema,
  isRequired: boolean,
  writer: TypeWriter,
  depth: number,
): string[] {
  const type = typeText(schema, writer, depth);
  const readonly = writer.side === 'got' ? 'readonly ' : '';
  // Under exactOptionalPropertyTypes, `undefined` would otherwise not be accepted for "not given".
  const suffix = writer.side === 'sent' && !isRequired ? ' | undefined' : '';
  return [
    ...docLines(propertyDoc(name, schema, writer.named), depth),
    `${indentation(depth)}${readonly}${propertyKey(name)}${isRequired ? '' : '?'}: ${type}${suffix};`,
  ];
}

const UNITS: readonly (readonly [ending: RegExp, words: string])[] = [
  [/_pkr$|_pkr_/, 'In PKR.'],
  [/_cents$/, 'In micro-PKR (1 PKR = 1,000,000), not cents.'],
  [/_ms$/, 'In milliseconds.'],
];

function propertyDoc(name: string, schema: JsonSchema, named: NamedSchemas): string {
  const rules = rulesInWords(schema, named);
  const unit = UNITS.find(([ending]) => ending.test(name))?.[1] ?? '';
  const says =
    /\b(?:PKR|ms|milliseconds)\b/.test(rules) || !/"(?:number|integer)"/.test(JSON.stringify(schema));
  return [rules, says ? '' : unit].filter((text) => text !== '').join(' ');
}

const WIDTH = 106;

/** A documentation comment; nothing for no text. */
export function docLines(text: string, depth: number): string[] {
  const safe = text.replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ').trim();
  const indent = indentation(depth);
  if (safe === '') return [];
  if (indent.length + safe.length + 7 <= WIDTH) return [`${indent}/** ${safe} */`];
  const lines: string[] = [];
  let line = '';
  for (const word of safe.split(' ')) {
    if (line !== '' && indent.length + 3 + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [`${indent}/**`, ...[...lines, line].map((one) => `${indent} * ${one}`), `${indent} */`];
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

/** A value as a literal of single quotes. */
export function literal(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

export function propertyKey(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
}

function indentation(depth: number): string {
  return '  '.repeat(depth);
}
