import { applyEdits, modify, type ParseError, parse, visit } from 'jsonc-parser';
import { type ConfigFormat, UnmergeableError } from './edit.ts';

/** JSON. Where the client accepts comments and trailing commas, so does this; they stay. */
export function jsonFormat({ hasComments }: { readonly hasComments: boolean }): ConfigFormat {
  const options = { disallowComments: !hasComments, allowTrailingComma: hasComments };
  return {
    parse(text) {
      if (text.trim() === '') return {};
      const errors: ParseError[] = [];
      const value: unknown = parse(text, errors, options);
      if (errors.length > 0) throw new UnmergeableError('is not valid JSON');
      if (hasRepeatedNames(text, options)) throw new UnmergeableError('has a member twice');
      return value;
    },
    edit(text, edits) {
      const formattingOptions = { ...indentation(text), eol: text.includes('\r\n') ? '\r\n' : '\n' };
      const edited = edits.reduce(
        (sofar, { path, value }) =>
          applyEdits(sofar, modify(sofar, path as string[], value, { formattingOptions })),
        text,
      );
      return edited.endsWith('\n') ? edited : `${edited}\n`;
    },
  };
}

// Which of the two counts depends on the reader.
function hasRepeatedNames(text: string, options: object): boolean {
  const open: Set<string>[] = [];
  let isRepeated = false;
  visit(
    text,
    {
      onObjectBegin: () => void open.push(new Set()),
      onObjectEnd: () => void open.pop(),
      onObjectProperty: (name) => {
        const names = open.at(-1);
        if (names?.has(name)) isRepeated = true;
        names?.add(name);
      },
    },
    options,
  );
  return isRepeated;
}

function indentation(text: string): { readonly insertSpaces: boolean; readonly tabSize: number } {
  const first = /^([ \t]+)["}]/m.exec(text)?.[1] ?? '  ';
  return first.startsWith('\t')
    ? { insertSpaces: false, tabSize: 1 }
    : { insertSpaces: true, tabSize: first.length };
}
