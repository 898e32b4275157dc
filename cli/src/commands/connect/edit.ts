import { isDeepStrictEqual } from 'node:util';

// A change of a configuration file, independent of its format.

export type Value = string | boolean;

/** A member of a table, or the entry of a list that has this name. */
export type Step = string | { readonly named: string };

export interface Edit {
  readonly path: readonly Step[];
  /** Undefined removes the member. */
  readonly value: Value | undefined;
  /** True if a value that is there already stays. */
  readonly isDefault?: true;
}

/** A file that cannot be changed without losing something. The message completes "it". */
export class UnmergeableError extends Error {
  override readonly name = 'UnmergeableError';
}

/** A format of configuration files. Both throw UnmergeableError. */
export interface ConfigFormat {
  parse(text: string): unknown;
  /** The text with these edits; everything else stays as it is written. */
  edit(text: string, edits: readonly Edit[]): string;
}

export interface Change {
  readonly path: string;
  readonly kind: 'set' | 'replace' | 'remove';
}

export interface Merged {
  readonly text: string;
  readonly changes: readonly Change[];
}

/**
 * Applies the edits to a file's text. The result is parsed again: it must have the values of the file, the edits made, and
 * nothing else. Throws UnmergeableError otherwise.
 */
export function merge(format: ConfigFormat, written: string, edits: readonly Edit[]): Merged {
  const mark = written.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const text = written.slice(mark.length);
  const before = parsed(format, text);
  const needed = edits.filter(({ path, value, isDefault }) => {
    const present = valueAt(before, path);
    return isDefault ? present === undefined : !isDeepStrictEqual(present, value);
  });
  const expected = parsed(format, text);
  for (const edit of needed) apply(expected, edit);
  const edited = needed.length === 0 ? text : format.edit(text, needed);
  if (!holds(format, edited, expected)) {
    throw new UnmergeableError('is written in a way that this command cannot change without loss');
  }
  return {
    text: mark + edited,
    changes: needed.map(({ path, value }) => ({
      path: path.map((step) => (typeof step === 'string' ? step : step.named)).join('.'),
      kind: value === undefined ? 'remove' : valueAt(before, path) === undefined ? 'set' : 'replace',
    })),
  };
}

const BYTE_ORDER_MARK = '\uFEFF';

function holds(format: ConfigFormat, text: string, expected: Table): boolean {
  try {
    return isDeepStrictEqual(parsed(format, text), expected);
  } catch {
    // The file was valid, and the edit is not.
    return false;
  }
}

/** A table without a prototype: a member may be called `constructor` or `__proto__`. */
type Table = Record<string, unknown>;

function parsed(format: ConfigFormat, text: string): Table {
  const value = bare(format.parse(text) ?? {});
  if (!isTable(value)) throw new UnmergeableError('holds no table of settings');
  return value;
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function valueAt(table: unknown, path: readonly Step[]): unknown {
  let value = table;
  for (const step of path) {
    if (typeof step === 'string')
      value = isTable(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    else value = Array.isArray(value) ? value.find((entry) => isNamed(entry, step.named)) : undefined;
  }
  return value;
}

function isNamed(entry: unknown, name: string): boolean {
  return isTable(entry) && entry['name'] === name;
}

function apply(table: Table, { path, value }: Edit): void {
  let parent: unknown = table;
  for (const [at, step] of path.slice(0, -1).entries()) parent = child(parent, step, path[at + 1]);
  const last = path.at(-1);
  if (!isTable(parent) || typeof last !== 'string') throw notATable(path);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

/** The child that a step leads to, made where it is missing. */
function child(parent: unknown, step: Step, next: Step | undefined): unknown {
  if (typeof step === 'string') {
    if (!isTable(parent)) throw notATable([step]);
    parent[step] ??= typeof next === 'string' ? bare({}) : [];
    return parent[step];
  }
  if (!Array.isArray(parent)) throw notATable([step]);
  const found = parent.find((entry) => isNamed(entry, step.named));
  if (found) return found;
  const entry = bare({ name: step.named });
  parent.push(entry);
  return entry;
}

function notATable(path: readonly Step[]): UnmergeableError {
  const names = path.map((step) => (typeof step === 'string' ? step : step.named)).join('.');
  return new UnmergeableError(`has something else than a table where ${names} belongs`);
}

/** The value with its tables as `Table`s; dates and big integers stay. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (!isTable(value)) return value;
  const table: Table = Object.create(null);
  for (const [name, member] of Object.entries(value)) table[name] = bare(member);
  return table;
}
