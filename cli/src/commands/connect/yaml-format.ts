import { isMap, isSeq, Lexer, parseDocument, type YAMLMap } from 'yaml';
import { type ConfigFormat, type Edit, type Step, UnmergeableError } from './edit.ts';

/** YAML. Comments, anchors and the style of values stay; blank lines and indentation may be normalised. */
export const yamlFormat: ConfigFormat = {
  parse(text) {
    const value: unknown = documentOf(text).toJS();
    return value;
  },
  edit(text, edits) {
    if (edits.length === 0) return text;
    const document = documentOf(text);
    for (const { path, value } of edits) {
      const place = placeOf(document, path);
      if (value === undefined) document.deleteIn(place);
      else document.setIn(place, document.createNode(value));
    }
    const edited = document.toString({ lineWidth: 0, indentSeq: !/^[^\s#].*:[ \t]*\r?\n- /m.test(text) });
    if (comments(text).join('\n') !== comments(edited).join('\n')) {
      throw new UnmergeableError('has comments that this command cannot keep');
    }
    return edited;
  },
};

function documentOf(text: string) {
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) throw new UnmergeableError('is not valid YAML');
  return document;
}

/** The path with an index in place of each name; a named entry that is missing is added. */
function placeOf(document: ReturnType<typeof documentOf>, path: Edit['path']): (string | number)[] {
  const place: (string | number)[] = [];
  for (const step of path) {
    place.push(typeof step === 'string' ? step : entryOf(document, place, step));
  }
  return place;
}

function entryOf(
  document: ReturnType<typeof documentOf>,
  place: readonly (string | number)[],
  { named }: Exclude<Step, string>,
): number {
  const entry = document.createNode({ name: named }) as YAMLMap;
  const list = document.getIn(place);
  if (list === undefined || list === null) {
    document.setIn(place, document.createNode([]));
    document.addIn(place, entry);
    return 0;
  }
  if (!isSeq(list)) throw new UnmergeableError(`has no list where ${place.join('.')} belongs`);
  const index = list.items.findIndex((item) => isMap(item) && item.get('name') === named);
  if (index >= 0) return index;
  list.add(entry);
  return list.items.length - 1;
}

function comments(text: string): string[] {
  return [...new Lexer().lex(text)].filter((token) => token.startsWith('#')).sort();
}
