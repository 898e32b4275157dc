import { parse } from 'smol-toml';
import { UnmergeableError } from './edit.ts';

// Where each assignment of a TOML text is. The parser of the values does not say. The text is valid already.

/** `a.b = 1`, on lines of its own or in a table in braces. */
export interface Assignment {
  /** From the root. */
  readonly path: readonly string[];
  readonly from: number;
  readonly valueFrom: number;
  /** Behind the value. */
  readonly to: number;
}

/** The root, a table with a header, or one in braces. */
export interface Table {
  readonly path: readonly string[];
  /** Behind the header, or behind the opening brace. */
  readonly from: number;
  readonly isInBraces: boolean;
  readonly assignments: Assignment[];
}

/** The tables of a text, the root first, in their order. */
export function tablesOf(text: string): readonly Table[] {
  return new Scanner(text).tables;
}

const BLANKS = /[ \t]*/y;
const BLANK_LINES = /(?:\s+|#[^\n]*)*/y;
const BETWEEN = /(?:[\s,]+|#[^\n]*)*/y;
const NAME = /[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const STRING =
  /"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}|'''(?:[^']|'{1,2}(?!'))*'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
/** A number, a date, which may have a blank in it, or a boolean. */
const PLAIN = /[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?/y;

class Scanner {
  readonly tables: Table[];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    let table: Table = { path: [], from: 0, isInBraces: false, assignments: [] };
    this.tables = [table];
    for (this.#skip(BLANK_LINES); this.#at < text.length; this.#skip(BLANK_LINES)) {
      if (text[this.#at] === '[') {
        const path = this.#header();
        table = { path, from: this.#at, isInBraces: false, assignments: [] };
        this.tables.push(table);
      } else table.assignments.push(this.#assignment(table.path));
    }
  }

  #header(): string[] {
    const isList = this.#take('[') && this.#take('[');
    const path = this.#names();
    if (!this.#take(']') || (isList && !this.#take(']'))) throw unreadable();
    return path;
  }

  #assignment(table: readonly string[]): Assignment {
    const from = this.#at;
    const path = [...table, ...this.#names()];
    if (!this.#take('=')) throw unreadable();
    this.#skip(BLANKS);
    const valueFrom = this.#at;
    this.#value(path);
    return { path, from, valueFrom, to: this.#at };
  }

  #names(): string[] {
    const names: string[] = [];
    do {
      this.#skip(BLANKS);
      const name = this.#skip(NAME);
      names.push(/^["']/.test(name) ? String(parse(`name = ${name}`)['name']) : name);
      this.#skip(BLANKS);
    } while (this.#take('.'));
    return names;
  }

  #value(path: readonly string[]): void {
    if (this.#take('[')) {
      for (this.#skip(BETWEEN); !this.#take(']'); this.#skip(BETWEEN)) this.#value([...path, '']);
    } else if (this.#take('{')) {
      const table: Table = { path, from: this.#at, isInBraces: true, assignments: [] };
      this.tables.push(table);
      for (this.#skip(BETWEEN); !this.#take('}'); this.#skip(BETWEEN))
        table.assignments.push(this.#assignment(path));
    } else if (this.#skip(STRING) === '' && this.#skip(PLAIN) === '') throw unreadable();
  }

  #take(character: string): boolean {
    const isThere = this.#text[this.#at] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  /** Goes on behind what matches, and returns that. */
  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}

function unreadable(): UnmergeableError {
  return new UnmergeableError('is written in a way that this command cannot change without loss');
}
