import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { type ConfigFormat, type Edit, UnmergeableError } from './edit.ts';

// The parser says where each member is, and the text is changed there. Its own edits format the lines around them.

/** JSON. Where the client accepts comments and trailing commas, so does this. Every byte that is not edited stays. */
export function jsonFormat({ hasComments }: { readonly hasComments: boolean }): ConfigFormat {
  /** Undefined where there is nothing, or nothing but comments. */
  const treeOf = (text: string): Node | undefined => {
    const errors: ParseError[] = [];
    const options = {
      disallowComments: !hasComments,
      allowTrailingComma: hasComments,
      allowEmptyContent: true,
    };
    const tree = parseTree(text, errors, options);
    if (errors.length > 0) throw new UnmergeableError('is not valid JSON');
    return tree;
  };
  return {
    parse(text) {
      const tree = treeOf(text);
      return tree && readValue(tree);
    },
    edit: (text, edits) =>
      edits.reduce(
        (sofar, edit) => {
          const tree = treeOf(sofar);
          return tree ? editText(sofar, tree, edit) : sofar;
        },
        withTable(text, treeOf(text)),
      ),
  };
}

function withTable(text: string, tree: Node | undefined): string {
  if (tree) return text;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const comments = text.trim() === '' ? '' : text.endsWith('\n') ? text : text + eol;
  return `${comments}{}${eol}`;
}

/** The value, with every name that the text has as a member of its own. Which of two equal names counts depends on the
 *  reader, so there may not be two. */
function readValue({ type, value, children = [] }: Node): unknown {
  if (type === 'array') return children.map(readValue);
  if (type !== 'object') return value;
  const members = children.map(({ children: [name, member] = [] }): [string, unknown] => [
    String(name?.value),
    member && readValue(member),
  ]);
  if (new Set(members.map(([name]) => name)).size < members.length)
    throw new UnmergeableError('has a member twice');
  return Object.fromEntries(members);
}

function editText(text: string, root: Node, { path, value }: Edit): string {
  let parent = root;
  for (const [at, step] of path.entries()) {
    if (typeof step !== 'string' || parent.type !== 'object')
      throw new UnmergeableError(`has something else than a table where ${path.join('.')} belongs`);
    const property = parent.children?.find(({ children }) => children?.[0]?.value === step);
    const member = property?.children?.[1];
    if (!property || !member) return value === undefined ? text : insert(text, parent, path.slice(at), value);
    if (at === path.length - 1) {
      if (value === undefined) return remove(text, parent, property);
      // A list or a table may have comments in it.
      if (member.children && /\/[/*]/.test(text.slice(member.offset, end(member))))
        throw new UnmergeableError('has a list or a table where a value belongs');
      return splice(text, member.offset, end(member), JSON.stringify(value));
    }
    parent = member;
  }
  return text;
}

function insert(text: string, parent: Node, path: Edit['path'], value: Edit['value']): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = /^([ \t]+)["}]/m.exec(text)?.[1] ?? '  ';
  const [name, ...deeper] = path;
  const whole = deeper.reduceRight<unknown>((inner, step) => ({ [String(step)]: inner }), value);
  const property = (indent: string) =>
    `${JSON.stringify(name)}: ${JSON.stringify(whole, undefined, unit).replaceAll('\n', `${eol}${indent}`)}`;
  const last = parent.children?.at(-1);
  const close = end(parent) - 1;
  if (!last) {
    const indent = indentationAt(text, parent.offset) + unit;
    const inside = text.slice(parent.offset + 1, close);
    const before = inside.trim() === '' ? '' : inside.trimEnd();
    const content = `${before}${eol}${indent}${property(indent)}${eol}${indentationAt(text, parent.offset)}`;
    return splice(text, parent.offset + 1, close, content);
  }
  // A comma may follow the last member where comments may be.
  const comma = commaAfter(text, end(last));
  const after = comma ?? end(last);
  const isAlone = text.slice(lineStart(text, last.offset), last.offset).trim() === '';
  if (!isAlone) {
    const added = ` ${property(indentationAt(text, last.offset))}`;
    return comma === undefined
      ? splice(text, after, after, `,${added}`)
      : splice(text, after, after, `${added},`);
  }
  const indent = indentationAt(text, last.offset);
  // Behind the comments of the line, where the table does not end on it.
  const rest = behindComments(text, after);
  const at = rest < close ? rest : after;
  const added = `${eol}${indent}${property(indent)}${comma === undefined ? '' : ','}`;
  const withMember = splice(text, at, at, added);
  return comma === undefined ? splice(withMember, after, after, ',') : withMember;
}

function remove(text: string, parent: Node, property: Node): string {
  const comma = commaAfter(text, end(property));
  const until = comma ?? end(property);
  const start = lineStart(text, property.offset);
  const line = lineEnd(text, until);
  const isAlone =
    text.slice(start, property.offset).trim() === '' && text.slice(until, line).trim() === '' && start > 0;
  const next = text.startsWith('\r\n', line) ? line + 2 : line + 1;
  const removed = isAlone
    ? splice(text, start, next, '')
    : splice(text, property.offset, until + (text[until] === ' ' ? 1 : 0), '');
  const previous = parent.children?.[(parent.children?.indexOf(property) ?? 0) - 1];
  if (comma !== undefined || !previous) return removed;
  // The member before is the last one now.
  const before = commaAfter(text, end(previous));
  return before === undefined ? removed : splice(removed, before - 1, before, '');
}

/** The offset behind the comma that follows, past blanks and comments; undefined where none does. */
function commaAfter(text: string, from: number): number | undefined {
  const between = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
  between.lastIndex = from;
  let at = from;
  while (between.test(text)) at = between.lastIndex;
  return text[at] === ',' ? at + 1 : undefined;
}

/** The offset behind the blanks and comments up to the end of the line. A comment may end on a later one. */
function behindComments(text: string, from: number): number {
  const comments = /(?:[ \t]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
  comments.lastIndex = from;
  comments.test(text);
  return /^\r?\n/.test(text.slice(comments.lastIndex, comments.lastIndex + 2)) ? comments.lastIndex : from;
}

function end({ offset, length }: Node): number {
  return offset + length;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Before the line's end. */
function lineEnd(text: string, offset: number): number {
  const found = text.indexOf('\n', offset);
  if (found < 0) return text.length;
  return text[found - 1] === '\r' ? found - 1 : found;
}

function indentationAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';
}

function splice(text: string, from: number, to: number, content: string): string {
  return text.slice(0, from) + content + text.slice(to);
}
