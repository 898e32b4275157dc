import { type JsonSchema, type NamedSchemas, resolved } from './json-schema.ts';

/** A line of a table of fields. */
interface Row {
  /** From the object that it is in. */
  readonly path: string;
  readonly cells: readonly string[];
}

/** The fields of a JSON Schema, nested ones too: `requests[].metrics.total_ms`. Its references are among the named ones. */
export function rowsOfSchema(schema: JsonSchema, side: 'sent' | 'got', named: NamedSchemas): Row[] {
  return fieldsOf('', resolved(schema, named), named).map(({ path, isRequired, field }) => ({
    path,
    cells: [
      ...(side === 'sent' ? [isRequired ? 'yes' : 'no'] : []),
      typeInWords(field, named) + (side === 'got' && !isRequired ? ', not always present' : ''),
      rulesInWords(field, named),
    ],
  }));
}

interface Field {
  readonly path: string;
  readonly isRequired: boolean;
  readonly field: JsonSchema;
}

function fieldsOf(lead: string, object: JsonSchema, named: NamedSchemas): Field[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
    const path = `${lead}${name}`;
    const own = { path, isRequired: object.required?.includes(name) ?? false, field };
    const inner = withoutNull(field, named);
    if (inner.properties) return [own, ...fieldsOf(`${path}.`, inner, named)];
    const entry = inner.items && withoutNull(inner.items, named);
    return entry?.properties ? [own, ...fieldsOf(`${path}[].`, entry, named)] : [own];
  });
}

/** The schema without the null alternative of its `anyOf`. */
function withoutNull(schema: JsonSchema, named: NamedSchemas): JsonSchema {
  const others = schema.anyOf?.filter((option) => option.type !== 'null') ?? [];
  return resolved(others.length === 1 ? (others[0] as JsonSchema) : schema, named);
}

const FORMATS: Readonly<Record<string, string>> = { uuid: 'uuid', 'date-time': 'timestamp', email: 'e-mail' };

function typeInWords(schema: JsonSchema, named: NamedSchemas): string {
  const it = resolved(schema, named);
  if (it.anyOf) return it.anyOf.map((option) => typeInWords(option, named)).join(' or ');
  if (it.not) return 'nothing';
  if (it.const !== undefined) return code(JSON.stringify(it.const));
  if (it.enum) return it.enum.map((value) => code(String(value))).join(', ');
  if (it.items) return `list of ${typeInWords(it.items, named)}`;
  if (typeof it.additionalProperties === 'object')
    return `map of string to ${typeInWords(it.additionalProperties, named)}`;
  const types = [it.type ?? 'anything'].flat();
  return types.map((type) => (type === 'string' && it.format && FORMATS[it.format]) || type).join(' or ');
}

/** The description of a field with its bounds and its default, as a sentence or two. */
export function rulesInWords(schema: JsonSchema, named: NamedSchemas): string {
  const it = { ...withoutNull(schema, named), ...schema };
  const rules = [
    bounds(it.minimum, it.maximum),
    bounds(it.minLength, it.maxLength, ['character', 'characters']),
    bounds(it.minItems, it.maxItems, ['entry', 'entries']),
    it.pattern !== undefined && `matches ${code(it.pattern)}`,
    it.default !== undefined && `${code(String(it.default))} unless given`,
  ].filter((rule) => rule !== false && rule !== undefined);
  return [it.description, rules.length > 0 && `${capitalized(rules.join('; '))}.`].filter(Boolean).join(' ');
}

function bounds(
  least: number | undefined,
  most: number | undefined,
  counted?: readonly [one: string, more: string],
): string | undefined {
  const last = most ?? least;
  const unit = counted ? ` ${counted[last === 1 ? 0 : 1]}` : '';
  if (last === undefined) return undefined;
  if (least === undefined) return `at most ${last}${unit}`;
  return most === undefined ? `at least ${last}${unit}` : `${least} to ${most}${unit}`;
}

export function code(text: string): string {
  return `\`${text}\``;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
