import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type ConfigFormat, type Edit, type Step, UnmergeableError, type Value } from './edit.ts';

// The parser says where each value is, and the text is changed there, one edit after the other. Writing the whole document
// would change what nobody edited: `010` is a number that it writes as 8.

/** YAML. Every byte that is not edited stays. */
export const yamlFormat: ConfigFormat = {
  parse(text) {
    const value: unknown = documentOf(text).toJS();
    return value;
  },
  edit: (text, edits) => edits.reduce(editText, text),
};

function documentOf(text: string) {
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) throw new UnmergeableError('is not valid YAML');
  return document;
}

/** A value that stands nowhere yet, and the text that it is under. */
interface Missing {
  readonly path: readonly Step[];
  readonly value: Value;
}

function editText(text: string, { path, value }: Edit): string {
  const { contents } = documentOf(text);
  let node: Node | null = contents;
  let isInFlow = false;
  for (const [at, step] of path.entries()) {
    const missing = value === undefined ? undefined : { path: path.slice(at), value };
    if (isEmpty(node)) {
      if (!missing) return text;
      return isInFlow || hasComment(text, node)
        ? fillFlow(text, node, missing)
        : fill(text, node, at === 0, missing);
    }
    isInFlow ||= (isMap(node) || isSeq(node)) && node.flow === true;
    if (typeof step === 'string') {
      if (!isMap(node)) throw notWhere(path, 'table');
      const pair: Pair | undefined = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (!pair) return missing ? addMember(text, node, missing) : text;
      if (at === path.length - 1)
        return value === undefined ? removed(text, pair) : replaced(text, pair, value, isInFlow);
      node = pair.value as Node | null;
    } else {
      if (!isSeq(node)) throw notWhere(path, 'list');
      const entry = node.items.find((item) => isMap(item) && item.get('name') === step.named);
      if (!entry) return missing ? addEntry(text, node, missing) : text;
      node = entry as Node;
    }
  }
  return text;
}

function notWhere(path: Edit['path'], what: string): UnmergeableError {
  const names = path.map((step) => (typeof step === 'string' ? step : step.named)).join('.');
  return new UnmergeableError(`has something else than a ${what} where ${names} belongs`);
}

/** Nothing, `null`, or a list or table without entries that is written as such. */
function isEmpty(node: Node | null): boolean {
  if (node === null) return true;
  if (isScalar(node)) return node.value === null;
  return (isMap(node) || isSeq(node)) && node.items.length === 0;
}

function hasComment(text: string, node: Node | null): boolean {
  const [from, to] = rangeOf(node) ?? [0, 0];
  return text.slice(from, to).includes('#');
}

function wholeOf({ path, value }: Missing): unknown {
  return path.reduceRight<unknown>(
    (inner, step) =>
      typeof step === 'string'
        ? { [step]: inner }
        : [{ name: step.named, ...(inner as Record<string, unknown>) }],
    value,
  );
}

/** The lines of what is missing, without indentation. */
function linesOf(missing: Missing): string[] {
  return stringify(wholeOf(missing), { lineWidth: 0 }).trimEnd().split('\n');
}

/** The missing members on one line, in brackets. */
function flowOf(missing: Missing): string {
  const options = { lineWidth: 0, collectionStyle: 'flow', defaultKeyType: 'PLAIN' } as const;
  return stringify(wholeOf(missing), { ...options, defaultStringType: 'QUOTE_DOUBLE' }).trimEnd();
}

/** The entries of what is missing, without the brackets around them. */
function entriesOf(missing: Missing): string {
  return flowOf(missing).slice(1, -1).trim();
}

/** Puts it where there is nothing: into an empty document, or behind a key without a value. */
function fill(text: string, node: Node | null, isRoot: boolean, missing: Missing): string {
  const eol = eolOf(text);
  const [from, to] = rangeOf(node) ?? [text.length, text.length];
  if (isRoot) {
    if (to > from) return splice(text, from, to, linesOf(missing).join(eol));
    return insertAfter(text, text.length, linesOf(missing));
  }
  const indent = `${indentationAt(text, from)}  `;
  const lines = linesOf(missing).map((line) => indent + line);
  // `models: []`: the brackets go. What stands behind the key may be a comment.
  const without = splice(text, text.slice(0, from).trimEnd().length, to, '');
  if (to > from) return insertAfter(without, text.slice(0, from).trimEnd().length, lines);
  return insertAfter(text, text.slice(0, from).trimEnd().length, lines);
}

/** Puts it into brackets without entries, or where a table in brackets has a name without a value. */
function fillFlow(text: string, node: Node | null, missing: Missing): string {
  const range = rangeOf(node);
  if (!range) throw new UnmergeableError('has a name without a value that this command cannot replace');
  const [from, to] = range;
  if (!isScalar(node)) return splice(text, from + 1, from + 1, entriesOf(missing));
  return splice(text, from, to, text[from - 1] === ':' ? ` ${flowOf(missing)}` : flowOf(missing));
}

function addMember(text: string, map: YAMLMap, missing: Missing): string {
  if (map.flow) return addToFlow(text, endOfMember(map.items.at(-1)), missing);
  const first = rangeOf(map.items[0]?.key as Node)?.[0] ?? 0;
  const indent = ' '.repeat(first - lineStart(text, first));
  return insertAfter(
    text,
    endOf(map),
    linesOf(missing).map((line) => indent + line),
  );
}

function addEntry(text: string, list: YAMLSeq, missing: Missing): string {
  if (list.flow) return addToFlow(text, endOf(list.items.at(-1) as Node), missing);
  const indent = ' '.repeat((list.range?.[0] ?? 0) - lineStart(text, list.range?.[0] ?? 0));
  return insertAfter(
    text,
    endOf(list),
    linesOf(missing).map((line) => indent + line),
  );
}

function addToFlow(text: string, end: number, missing: Missing): string {
  return splice(text, end, end, `, ${entriesOf(missing)}`);
}

function replaced(text: string, { key, value }: Pair, wanted: Value, isInFlow: boolean): string {
  const plain = stringify(wanted, { lineWidth: 0 }).trimEnd();
  // In brackets a plain text would end at a comma.
  const written = isInFlow && !/^[A-Za-z0-9._/:@+-]+$/.test(plain) ? JSON.stringify(wanted) : plain;
  const range = rangeOf(value as Node | null);
  if (value === null || !range || range[0] === range[1]) {
    const at = rangeOf(key as Node)?.[1] ?? 0;
    const colon = text.indexOf(':', at) + 1;
    return splice(text, colon, colon, ` ${written}`);
  }
  if (isMap(value) || isSeq(value)) throw new UnmergeableError('has a list or a table where a value belongs');
  const isBlock = isScalar(value) && (value.type === 'BLOCK_FOLDED' || value.type === 'BLOCK_LITERAL');
  if (isBlock || (value as Node).tag !== undefined)
    throw new UnmergeableError('has a value that this command cannot replace');
  return splice(text, range[0], range[1], written);
}

function removed(text: string, { key, value }: Pair): string {
  const from = lineStart(text, rangeOf(key as Node)?.[0] ?? 0);
  return splice(text, from, nextLine(text, endOf((value ?? key) as Node)), '');
}

/** Behind the line of the offset, its comment included. */
function insertAfter(text: string, offset: number, lines: readonly string[]): string {
  const eol = eolOf(text);
  const added = lines.join(eol);
  const at = offset > 0 && text[offset - 1] === '\n' ? offset : nextLine(text, offset);
  if (at === 0 || text[at - 1] === '\n') return splice(text, at, at, added + eol);
  return splice(text, at, at, eol + added);
}

/** Behind the last value in a node. */
function endOf(node: Node): number {
  if (isMap(node) && !node.flow) return endOfMember(node.items.at(-1));
  if (isSeq(node) && !node.flow) return endOf(node.items.at(-1) as Node);
  return rangeOf(node)?.[1] ?? 0;
}

function endOfMember(pair: Pair | undefined): number {
  return endOf((pair?.value ?? pair?.key) as Node) || endOf(pair?.key as Node);
}

function rangeOf(node: Node | null | undefined): readonly [from: number, to: number] | undefined {
  return node?.range ? [node.range[0], node.range[1]] : undefined;
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function nextLine(text: string, offset: number): number {
  const found = text.indexOf('\n', offset);
  return found < 0 ? text.length : found + 1;
}

function indentationAt(text: string, offset: number): string {
  return /^ */.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';
}

function splice(text: string, from: number, to: number, content: string): string {
  return text.slice(0, from) + content + text.slice(to);
}
