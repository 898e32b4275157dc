import { numberOf } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';

/** Bounds and conditions that Anthropic's structured output refuses. */
const BOUNDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'contains',
  'minContains',
  'maxContains',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'not',
  'if',
  'then',
  'else',
] as const;
/** The formats of texts that it takes. */
const FORMATS: ReadonlySet<unknown> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);
/** The only numbers of items that it can be told to have at least. */
const MAX_MIN_ITEMS = 1;
const MAX_DEPTH = 128;
/** A look ahead or behind in a `pattern`: OpenAI refuses the whole request for it, and Anthropic's grammars have none. */
const LOOKAROUND = /(?<!\\)(?:\\\\)*\(\?<?[=!]/;

/** The places of schemas within a schema: by name, in a list, or alone. A property may have any of the names above. */
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const;
const LISTED = ['anyOf', 'allOf', 'oneOf', 'prefixItems', 'items'] as const;
const ALONE = [
  ...['items', 'additionalProperties', 'propertyNames', 'contains'],
  ...['not', 'if', 'then', 'else'],
] as const;

interface ClosedSchema {
  readonly schema: JsonObject;
  /** True if something of it is said in words only, or not at all. */
  readonly isLoosened: boolean;
}

/**
 * A schema as Anthropic's structured output takes it: every object closed, `anyOf` for `oneOf`, and bounds in the description, where the
 * model reads them.
 */
export function closedSchema(schema: JsonObject): ClosedSchema {
  const state = { isLoosened: false };
  return { schema: closed(schema, state, 0), isLoosened: state.isLoosened };
}

function closed(schema: JsonObject, state: { isLoosened: boolean }, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const { oneOf, ...others } = schema;
  const written = mapWithin(oneOf === undefined ? others : { anyOf: oneOf, ...others }, (within) =>
    closed(within, state, depth + 1),
  );
  const said: string[] = [];
  const least = numberOf(written['minItems']);
  if (typeof least === 'number' && least > MAX_MIN_ITEMS) {
    said.push(`minItems: ${least}`);
    written['minItems'] = MAX_MIN_ITEMS;
  }
  const refused = FORMATS.has(written['format']) ? BOUNDS : [...BOUNDS, 'format'];
  if (saysInWords(written, refused, said)) state.isLoosened = true;
  if (isObjectSchema(written) && written['additionalProperties'] !== false) {
    // Members of any name cannot be had; that no others come is what most callers mean.
    state.isLoosened ||=
      isJsonObject(written['additionalProperties']) || written['additionalProperties'] === true;
    written['additionalProperties'] = false;
  }
  return written;
}

/** Says these keywords of a schema, and a pattern that looks around, in its description; false where there are none. */
function saysInWords(
  schema: Record<string, unknown>,
  refused: readonly string[],
  said: string[] = [],
): boolean {
  const { pattern, description } = schema;
  const isAround = typeof pattern === 'string' && LOOKAROUND.test(pattern);
  for (const name of isAround ? [...refused, 'pattern'] : refused) {
    if (!Object.hasOwn(schema, name)) continue;
    said.push(`${name}: ${JSON.stringify(schema[name])}`);
    delete schema[name];
  }
  if (said.length === 0) return false;
  schema['description'] = [description, `(${said.join(', ')})`]
    .filter((text) => typeof text === 'string')
    .join(' ');
  return true;
}

/** The most that Anthropic compiles into the one grammar of all strict tools; a member that may be null is a choice. */
const MAX_STRICT_TOOLS = 20;
const MAX_STRICT_CHOICES = 16;

/** True if Anthropic takes tools with these schemas as strict ones. */
export function areStrictTools(schemas: readonly JsonObject[]): boolean {
  let choices = 0;
  const count = (schema: JsonObject, depth: number): JsonObject => {
    if (depth > MAX_DEPTH) return schema;
    if (schema['anyOf'] !== undefined || Array.isArray(schema['type'])) choices += 1;
    return mapWithin(schema, (within) => count(within, depth + 1));
  };
  for (const schema of schemas) count(schema, 0);
  const isSmall = schemas.length <= MAX_STRICT_TOOLS && choices <= MAX_STRICT_CHOICES;
  return isSmall && schemas.every((schema) => !closedSchema(schema).isLoosened);
}

/** A copy of a schema with another in place of each that it holds. */
function mapWithin(schema: JsonObject, change: (within: JsonObject) => JsonObject): Record<string, unknown> {
  const written: Record<string, unknown> = { ...schema };
  const changed = (value: unknown) => (isJsonObject(value) ? change(value) : value);
  for (const name of BY_NAME) {
    const named = written[name];
    if (isJsonObject(named))
      written[name] = Object.fromEntries(
        Object.entries(named).flatMap(([key, value]) => (isSchema(value) ? [[key, changed(value)]] : [])),
      );
  }
  for (const name of LISTED) {
    const list = written[name];
    if (Array.isArray(list)) written[name] = list.map(changed);
  }
  for (const name of ALONE) written[name] &&= changed(written[name]);
  return written;
}

/** False for what some servers of tools write among the properties; one such makes OpenAI refuse the whole request. */
function isSchema(value: unknown): boolean {
  return isJsonObject(value) || typeof value === 'boolean';
}

function isObjectSchema(schema: JsonObject): boolean {
  return isOfType(schema, 'object') || isJsonObject(schema['properties']);
}

function isOfType({ type }: JsonObject, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

const MAX_VALUES = 20_000;
/** Keywords that a strict schema of OpenAI must not have. */
const NEVER_STRICT = [
  ...['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'propertyNames', 'patternProperties'],
  ...['dependentRequired', 'dependentSchemas', 'default'],
];

/**
 * True if a schema meets what OpenAI's formats demand of a strict one: every object lists all its properties as required and allows no
 * others, and no keyword is among those that it refuses. Anthropic's output always keeps to its schema, OpenAI's only to a strict one.
 */
export function isStrictSchema(schema: JsonObject): boolean {
  const open: unknown[] = [schema];
  for (let seen = 0; open.length > 0; seen += 1) {
    const value = open.pop();
    if (seen > MAX_VALUES) return false;
    if (typeof value !== 'object' || value === null) continue;
    if (isJsonObject(value)) {
      if (isObjectSchema(value) && !isClosed(value)) return false;
      if (isOfType(value, 'array') && value['items'] === undefined) return false;
      if (NEVER_STRICT.some((name) => Object.hasOwn(value, name))) return false;
      const { format } = value;
      // Anthropic takes `uri`, a strict schema of OpenAI must not have it.
      if (typeof format === 'string' && (format === 'uri' || !FORMATS.has(format))) return false;
      // A definition is referred to, and nothing is said beside that.
      if (Object.hasOwn(value, '$ref') && Object.keys(value).length > 1) return false;
    }
    for (const [name, member] of Object.entries(value)) {
      // What has names of the caller's is no schema itself.
      const isNamed = isJsonObject(member) && BY_NAME.some((one) => one === name);
      if (isNamed) for (const named of Object.values(member)) open.push(named);
      else open.push(member);
    }
  }
  return schema['type'] === 'object' && schema['anyOf'] === undefined;
}

function isClosed({ properties = {}, required, additionalProperties }: JsonObject): boolean {
  const names = new Set(Array.isArray(required) ? required : []);
  return additionalProperties === false && Object.keys(properties as object).every((name) => names.has(name));
}

/**
 * The schema of a function's arguments as OpenAI's formats demand it: an object with `properties`, be it without any. Anthropic takes a
 * schema without them, and clients send one for a tool that has no arguments.
 */
export function argumentsSchema(parameters: JsonObject = {}): JsonObject {
  const typed = openaiSchema(typedSchema(parameters));
  return typed['type'] !== 'object' || isJsonObject(typed['properties'])
    ? typed
    : { ...typed, properties: {} };
}

/** A schema as OpenAI's formats take it: patterns that look around in words, and members of any name by `true`, where `{}` lacks a type. */
export function openaiSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const written = mapWithin(schema, (within) => openaiSchema(within, depth + 1));
  saysInWords(written, []);
  const others = written['additionalProperties'];
  if (isJsonObject(others) && Object.keys(others).length === 0) written['additionalProperties'] = true;
  return written;
}

/**
 * The schema of a function's arguments as every provider takes it: with a type, without a choice between objects, and in the words of JSON
 * Schema 2020-12. Servers of tools write what only some providers let pass.
 */
export function typedSchema(parameters: JsonObject = {}): JsonObject {
  const { anyOf, oneOf, allOf, ...root } = current(parameters, 0);
  const typed = typeof root['type'] === 'string' ? root : { ...root, type: 'object' };
  const branches = [anyOf, oneOf, allOf].flat().filter(isJsonObject);
  if (branches.length === 0) return typed;
  // Whatever one of them has may be given, and what all of them hold for must be.
  const named = [...branches, root].flatMap(({ properties }) => Object.entries(properties ?? {}));
  const needed = [root, ...[allOf].flat().filter(isJsonObject)].flatMap(({ required }): readonly unknown[] =>
    Array.isArray(required) ? required : [],
  );
  return {
    ...typed,
    properties: Object.fromEntries(named),
    ...(needed.length > 0 && { required: [...new Set(needed)] }),
  };
}

const EXCLUSIVE = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** A schema in today's words: of older drafts, a list of `items` and bounds that are true or false. OpenAI wants `items` of every list. */
function current(schema: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const written = mapWithin(schema, (within) => current(within, depth + 1));
  const { items } = written;
  if (Array.isArray(items)) written['prefixItems'] = items;
  if (Array.isArray(items) || (items === undefined && isOfType(written, 'array'))) written['items'] = {};
  for (const [exclusive, bound] of EXCLUSIVE) {
    if (typeof written[exclusive] !== 'boolean') continue;
    if (written[exclusive]) {
      written[exclusive] = written[bound];
      delete written[bound];
    }
    if (typeof written[exclusive] === 'boolean') delete written[exclusive];
  }
  if (typeof written['required'] === 'boolean') delete written['required'];
  return written;
}
