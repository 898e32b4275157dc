import { isJsonObject, type JsonObject } from '../protocols/json.ts';

// A schema is a stranger's and may be built to keep a reader busy, or refer to itself: both the steps and the depth are
// limited, and what lies beyond is null.

const MOST_STEPS = 10_000;
const DEEPEST = 32;
const MOST_ITEMS = 1_000;

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

/** The smallest value that fits a JSON schema, as far as the schema's common words say; `pattern` is not among them. */
export function smallestValue(schema: unknown): unknown {
  return new Smallest(schema).of(schema, 0);
}

class Smallest {
  readonly #root: unknown;
  #steps = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  of(schema: unknown, depth: number): unknown {
    this.#steps += 1;
    if (!isJsonObject(schema) || depth > DEEPEST || this.#steps > MOST_STEPS) return null;
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return shortest(schema['enum']);
    if (typeof schema['$ref'] === 'string') return this.of(this.#find(schema['$ref']), depth + 1);
    for (const name of ['anyOf', 'oneOf']) {
      const options = schema[name];
      if (!Array.isArray(options) || options.length === 0) continue;
      if (options.some((option) => isJsonObject(option) && option['type'] === 'null')) return null;
      return shortest(options.map((option) => this.of(option, depth + 1)));
    }
    const parts: readonly unknown[] = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
    const values = parts.map((part) => this.of(part, depth + 1));
    const own = this.#ofType(schema, depth);
    if (values.length === 0) return own;
    const objects = [...values, own].filter(isJsonObject);
    return objects.length > 0 ? Object.assign({}, ...objects) : values[0];
  }

  #ofType(schema: JsonObject, depth: number): unknown {
    const { type } = schema;
    switch (
      Array.isArray(type) ? (type.includes('null') ? 'null' : type[0]) : (type ?? impliedType(schema))
    ) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return Array.from({ length: count(schema['minItems'], MOST_ITEMS) }, () =>
          this.of(schema['items'], depth + 1),
        );
      case 'string':
        return (EXAMPLES.get(schema['format']) ?? '').padEnd(count(schema['minLength'], MOST_ITEMS), 'x');
      case 'integer':
        return smallestNumber(schema, 1);
      case 'number':
        return smallestNumber(schema, 0);
      case 'boolean':
        return false;
      default:
        return null;
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
    const names = required.filter((name) => typeof name === 'string');
    return Object.fromEntries(names.map((name) => [name, this.of(own(properties, name), depth + 1)]));
  }

  /** Follows a reference within the schema, such as `#/$defs/node`. */
  #find(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    let found: unknown = this.#root;
    for (const step of reference.slice(1).split('/').slice(1, DEEPEST)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      found = isJsonObject(found) ? own(found, name) : undefined;
    }
    return found;
  }
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function impliedType(schema: JsonObject): string | undefined {
  if ('properties' in schema || 'required' in schema) return 'object';
  return 'items' in schema ? 'array' : undefined;
}

function count(value: unknown, most: number): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(value as number, 0), most) : 0;
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

function shortest(values: readonly unknown[]): unknown {
  const written = values.map((value) => ({ value, length: (JSON.stringify(value) ?? '').length }));
  return written.reduce((least, one) => (one.length < least.length ? one : least)).value;
}
