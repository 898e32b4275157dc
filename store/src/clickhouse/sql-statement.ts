/**
 * As much of ClickHouse's lexical rules as it takes to know four things about a text without running it: how many
 * statements are in it, what kind each is, which FORMAT it names, and where the rows of an INSERT begin.
 *
 * The embedded engine would run every statement of a text that holds several, and it executes directives in comments
 * (`-- { serverError 60 }` makes it report success for a statement that failed). A ClickHouse server does neither over
 * HTTP. So the embedded engine rejects a text with two statements and drops the comments, and both answer the same.
 * Migrations are split into statements by the same rules.
 */
export type SqlStatement = {
  /** The statement without comments and without its semicolon; for an INSERT with rows, all that comes before them. */
  readonly sql: string;
  /** The first word in upper case: SELECT, INSERT, CREATE... */
  readonly verb: string;
  /** How often the word SELECT occurs outside quotes: more than once means a subquery, a union or a view. */
  readonly selects: number;
  /** The name after the last FORMAT outside parentheses, or null. */
  readonly format: string | null;
  /** True for an INSERT that takes rows from what follows it (FORMAT or VALUES). */
  readonly takesRows: boolean;
  /** The text that follows `FORMAT name` or VALUES in an INSERT; for every other statement empty. */
  readonly rows: string;
};

type Token = { readonly kind: 'space' | 'comment' | 'word' | 'other'; readonly end: number };

const SPACE = /\s+/y;
const WORD = /[A-Za-z_][\w$]*/y;
const NUMBER = /\d[\w.]*/y;
const LINE_COMMENT = /(?:--|\/\/|#(?=[ !]))[^\n]*/y;
const HEREDOC = /\$\w*\$/y;
const CLOSING_QUOTE: Record<string, string> = { "'": "'", '"': '"', '`': '`', '‘': '’', '“': '”' };

function readToken(text: string, at: number): Token {
  const space = match(SPACE, text, at);
  if (space !== null) return { kind: 'space', end: space };
  const word = match(WORD, text, at);
  if (word !== null) return { kind: 'word', end: word };
  const comment = text.startsWith('/*', at) ? endOfBlockComment(text, at) : match(LINE_COMMENT, text, at);
  if (comment !== null) return { kind: 'comment', end: comment };
  const closing = CLOSING_QUOTE[text.charAt(at)];
  if (closing !== undefined) return { kind: 'other', end: endOfQuoted(text, at, closing) };
  const tagEnd = match(HEREDOC, text, at);
  if (tagEnd !== null) {
    const close = text.indexOf(text.slice(at, tagEnd), tagEnd);
    if (close !== -1) return { kind: 'other', end: close + tagEnd - at };
  }
  return { kind: 'other', end: match(NUMBER, text, at) ?? at + 1 };
}

function match(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** A doubled quote inside needs no case of its own: it reads as two strings side by side. */
function endOfQuoted(text: string, start: number, closing: string): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === closing) return at + 1;
  }
  return text.length;
}

/** Splits a text into its statements. Statements that hold nothing but comments are left out. */
export function parseSql(text: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let at = 0;
  while (at < text.length) {
    const { statement, end } = readStatement(text, at);
    if (statement.sql !== '') statements.push(statement);
    at = end;
  }
  return statements;
}

type Words = { verb: string; selects: number; format: string | null; formatNext: boolean; infile: boolean };

function readStatement(text: string, start: number): { statement: SqlStatement; end: number } {
  const words: Words = { verb: '', selects: 0, format: null, formatNext: false, infile: false };
  let sql = '';
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const { kind, end } = readToken(text, at);
    const token = kind === 'comment' ? ' ' : text.slice(at, end);
    at = end;
    if (token === ';') break;
    sql += token;
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (kind === 'space' || kind === 'comment') continue;
    const word = kind === 'word' ? token : undefined;
    readWord(words, word, depth);
    if (rowsFollow(words, word, depth)) {
      const rowsEnd = words.format?.toUpperCase() === 'VALUES' ? endOfValues(text, at) : text.length;
      const statement = finish(sql, words, true, text.slice(at, rowsEnd));
      return { statement, end: text[rowsEnd] === ';' ? rowsEnd + 1 : rowsEnd };
    }
  }
  return { statement: finish(sql, words, false, ''), end: at };
}

function readWord(words: Words, word: string | undefined, depth: number): void {
  const upper = word?.toUpperCase() ?? '';
  if (words.verb === '') words.verb = upper;
  if (words.formatNext) words.format = word ?? null;
  words.formatNext = upper === 'FORMAT' && depth === 0 && !words.formatNext;
  if (upper === 'SELECT') words.selects++;
  if (upper === 'INFILE') words.infile = true;
  if (upper === 'VALUES' && words.verb === 'INSERT' && depth === 0) words.format = 'VALUES';
}

/** True at the last word before the rows: the name after FORMAT, or VALUES itself. */
function rowsFollow(words: Words, word: string | undefined, depth: number): boolean {
  if (words.verb !== 'INSERT' || word === undefined || depth !== 0 || words.format === null) return false;
  return words.selects === 0 && !words.infile && !words.formatNext;
}

function finish(sql: string, words: Words, takesRows: boolean, rows: string): SqlStatement {
  return { sql: sql.trim(), verb: words.verb, selects: words.selects, format: words.format, takesRows, rows };
}

/** Block comments nest, as in the engine's own lexer. An unclosed one runs to the end of the text. */
function endOfBlockComment(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    if (text.startsWith('/*', at)) {
      depth++;
      at += 2;
    } else if (text.startsWith('*/', at)) {
      depth--;
      at += 2;
      if (depth === 0) return at;
    } else at++;
  }
  return text.length;
}

/** The rows of VALUES are SQL literals, so a semicolon outside quotes ends them. */
function endOfValues(text: string, start: number): number {
  for (let at = start; at < text.length; at = readToken(text, at).end) {
    if (text[at] === ';') return at;
  }
  return text.length;
}

/** A ClickHouse string literal. NUL is escaped too: parts of the embedded engine's interface end a text at it. */
export function sqlString(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** The name itself, when it is one that needs no quotes anywhere in SQL. @throws RangeError */
export function plainName(name: string): string {
  if (NAME.test(name)) return name;
  throw new RangeError(
    `"${name}" cannot name a ClickHouse database, table or setting: use letters, digits and _`,
  );
}

/** The quoted identifier. Only plain names pass. @throws RangeError */
export function sqlName(name: string): string {
  return `\`${plainName(name)}\``;
}
