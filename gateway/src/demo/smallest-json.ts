import { isJsonObject, type JsonObject } from '../wire/json.ts';

// A schema is a stranger's: a few kilobytes can stand for a value of any size, and can refer to themselves. So no value is built.
// Each part of the schema is measured once, which tells how long the smallest value is, and the text is written from its
// start until it is long enough for the caller.

/** Parts of a schema within each other. */
const DEEPEST_LOOK = 256;
/** Objects and lists of a value within each other. */
const DEEPEST_VALUE = 128;
const MAX_REFERENCE_LENGTH = 1_024;
const PADDING = 'x'.repeat(1_024);

const EXAMPLES = new Map<unknown, string>([
  ['date-time', '1970-01-01T00:00:00Z'],
  ['date', '1970-01-01'],
  ['time', '00:00:00Z'],
  ['duration', 'P0D'],
  ['email', 'a@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '127.0.0.1'],
  ['ipv6', '::1'],
  ['uuid', '00000000-0000-0000-0000-000000000000'],
  ['uri', 'http://example.com'],
]);

export interface SmallestBounds {
  /** The length of the text, which ends with the first character beyond. */
  readonly characters: number;
  /** Looks at a part of the schema. What no step is left for is null. */
  readonly steps: number;
}

export interface SmallestJson {
  readonly text: string;
  /** True if there were too few steps. */
  readonly isExhausted: boolean;
}

/**
 * The JSON of the smallest value that fits a schema, as far as the schema's common words say; `pattern` is not among them.
 * Where every value would contain itself, it is null at the place where it would begin again.
 */
export function smallestJson(schema: unknown, bounds: SmallestBounds): SmallestJson {
  const smallest = new Smallest(schema, bounds.steps);
  const text = new Text(bounds.characters);
  smallest.of(schema, 0).write(text);
  return { text: text.toString(), isExhausted: smallest.isExhausted };
}

/** A value that is not written yet. */
interface Value {
  /** The characters of its JSON; infinite where no value was found that fits. */
  readonly length: number;
  /** Objects and lists within each other. */
  readonly height: number;
  /** The members of an object, by name. */
  readonly members?: ReadonlyMap<string, Value>;
  write(text: Text): void;
}

const NULL = written('null');
/** In place of a value that contains itself, or that no step is left for. */
const NONE: Value = { ...NULL, length: Number.POSITIVE_INFINITY };

/** Text of a number of characters at most, and one more. */
class Text {
  readonly #most: number;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#length > this.#most;
  }

  add(part: string): void {
    if (this.isFull) return;
    this.#parts.push(part);
    this.#length += part.length;
  }

  toString(): string {
    return this.#parts.join('').slice(0, this.#most + 1);
  }
}

class Smallest {
  readonly #root: unknown;
  readonly #mostSteps: number;
  /** The values that were found, by the part of the schema. */
  readonly #found = new Map<JsonObject, Value>();
  /** The parts of the schema that are being looked at. */
  readonly #open = new Set<JsonObject>();
  #steps = 0;

  constructor(root: unknown, mostSteps: number) {
    this.#root = root;
    this.#mostSteps = mostSteps;
  }

  get isExhausted(): boolean {
    return this.#steps > this.#mostSteps;
  }

  of(schema: unknown, depth: number): Value {
    this.#steps += 1;
    if (!isJsonObject(schema)) return NULL;
    const known = this.#found.get(schema);
    if (known) return known;
    if (this.isExhausted || depth > DEEPEST_LOOK || this.#open.has(schema)) return NONE;
    this.#open.add(schema);
    const value = this.#read(schema, depth);
    this.#open.delete(schema);
    // Where there is none, there may be one seen from elsewhere, where other parts of the schema are open.
    if (Number.isFinite(value.length)) this.#found.set(schema, value);
    return value;
  }

  #read(schema: JsonObject, depth: number): Value {
    if ('const' in schema) return written(JSON.stringify(schema['const']));
    if (Array.isArray(schema['enum']) && schema['enum'].length > 0) {
      return shortest(schema['enum'].map((value) => written(JSON.stringify(value))));
    }
    if (typeof schema['$ref'] === 'string') return this.of(this.#find(schema['$ref']), depth + 1);
    for (const name of ['anyOf', 'oneOf']) {
      const options = schema[name];
      if (!Array.isArray(options) || options.length === 0) continue;
      if (options.some((option) => isJsonObject(option) && option['type'] === 'null')) return NULL;
      return shortest(options.map((option) => this.of(option, depth + 1)));
    }
    const parts: readonly unknown[] = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
    const values = parts.map((part) => this.of(part, depth + 1));
    const own = this.#ofType(schema, depth);
    return this.#all(values, own);
  }

  /** The value that fits all of them: the members of the objects together, or else the first. */
  #all(values: readonly Value[], own: Value): Value {
    const [first] = values;
    if (!first) return own;
    const objects = [...values, own].flatMap(({ members }) => members ?? []);
    if (objects.length === 0) return first;
    this.#steps += objects.reduce((sum, members) => sum + members.size, 0);
    if (this.isExhausted) return NONE;
    return objectOf(new Map(objects.flatMap((members) => [...members])));
  }

  #ofType(schema: JsonObject, depth: number): Value {
    const { type } = schema;
    if (Array.isArray(type)) this.#steps += type.length;
    switch (
      Array.isArray(type) ? (type.includes('null') ? 'null' : type[0]) : (type ?? impliedType(schema))
    ) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        return stringOf(EXAMPLES.get(schema['format']) ?? '', count(schema['minLength']));
      case 'integer':
        return written(JSON.stringify(smallestNumber(schema, 1)));
      case 'number':
        return written(JSON.stringify(smallestNumber(schema, 0)));
      case 'boolean':
        return written('false');
      default:
        return NULL;
    }
  }

  #object(schema: JsonObject, depth: number): Value {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
    const names = required.filter((name) => typeof name === 'string');
    // Each name takes a step of its own.
    this.#steps += required.length - names.length;
    return objectOf(new Map(names.map((name) => [name, this.of(own(properties, name), depth + 1)])));
  }

  #array(schema: JsonObject, depth: number): Value {
    const items = count(schema['minItems']);
    return items === 0 ? written('[]') : arrayOf(items, this.of(schema['items'], depth + 1));
  }

  /** Follows a reference within the schema, such as `#/$defs/node`. */
  #find(reference: string): unknown {
    if (!reference.startsWith('#') || reference.length > MAX_REFERENCE_LENGTH) return undefined;
    let found: unknown = this.#root;
    for (const step of reference.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      found = isJsonObject(found) ? own(found, name) : undefined;
    }
    return found;
  }
}

function written(json: string): Value {
  return { length: json.length, height: 0, write: (text) => text.add(json) };
}

function objectOf(members: ReadonlyMap<string, Value>): Value {
  let length = 1 + Math.max(1, members.size);
  let height = 1;
  for (const [name, value] of members) {
    // Two quotes and a colon. What is escaped in a name is not counted: names may be long, and are looked at often.
    length += name.length + 3 + value.length;
    height = Math.max(height, 1 + value.height);
  }
  if (height > DEEPEST_VALUE) return NONE;
  return {
    length,
    height,
    members,
    write(text) {
      let before = '{';
      for (const [name, value] of members) {
        if (text.isFull) return;
        text.add(`${before}${JSON.stringify(name)}:`);
        value.write(text);
        before = ',';
      }
      text.add(members.size === 0 ? '{}' : '}');
    },
  };
}

function arrayOf(items: number, item: Value): Value {
  if (item.height >= DEEPEST_VALUE) return NONE;
  return {
    length: 1 + items * (item.length + 1),
    height: 1 + item.height,
    write(text) {
      for (let index = 0; index < items && !text.isFull; index += 1) {
        text.add(index === 0 ? '[' : ',');
        item.write(text);
      }
      text.add(']');
    },
  };
}

/** Filled up to so many characters, where the example is shorter. */
function stringOf(example: string, characters: number): Value {
  const padding = Math.max(0, characters - example.length);
  return {
    length: 2 + example.length + padding,
    height: 0,
    write(text) {
      text.add(`"${example}`);
      for (let left = padding; left > 0 && !text.isFull; left -= PADDING.length)
        text.add(PADDING.slice(0, left));
      text.add('"');
    },
  };
}

function shortest(values: readonly Value[]): Value {
  return values.reduce((least, one) => (one.length < least.length ? one : least));
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function impliedType(schema: JsonObject): string | undefined {
  if ('properties' in schema || 'required' in schema) return 'object';
  return 'items' in schema ? 'array' : undefined;
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(value as number, 0) : 0;
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Zero, or what lies nearest to it within the limits. */
function smallestNumber(schema: JsonObject, step: 0 | 1): number {
  const above = finite(schema['exclusiveMinimum']);
  const below = finite(schema['exclusiveMaximum']);
  const half = (one: number, other: number | undefined) => ((other ?? one + 2) - one) / 2;
  const least = above === undefined ? finite(schema['minimum']) : above + (step || half(above, below));
  const most =
    below === undefined ? finite(schema['maximum']) : below - (step || half(above ?? below - 2, below));
  let value = 0;
  if (most !== undefined && value > most) value = step ? Math.floor(most) : most;
  if (least !== undefined && value < least) value = step ? Math.ceil(least) : least;
  const multiple = finite(schema['multipleOf']);
  if (multiple === undefined || multiple <= 0) return value;
  return (value > 0 ? Math.ceil(value / multiple) : Math.floor(value / multiple)) * multiple;
}
