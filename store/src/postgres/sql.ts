/**
 * SQL as a template: a literal string in `${}` is a named parameter, another `sql` template is included as text, and a
 * number is a constant. Values never become text, and a string that is not a literal does not compile.
 */
export interface Sql<Names extends string> extends SqlFragment {
  /** Carries the parameters' names as a type; never present at run time. Exactly these: no more and no fewer. */
  readonly namesOf?: (names: Names) => Names;
}

/** An `sql` template, whatever its parameters. */
export interface SqlFragment {
  readonly parts: readonly SqlPart[];
}

/** Text, or the name of a parameter. */
export type SqlPart = string | { readonly name: string };

type NamesIn<Value> = Value extends Sql<infer Names> ? Names : Value extends string ? Value : never;

export function sql<const Values extends readonly (string | number | bigint | SqlFragment)[]>(
  strings: TemplateStringsArray,
  ...values: Values
): Sql<NamesIn<Values[number]>> {
  return {
    parts: strings.flatMap((text, index): readonly SqlPart[] => {
      const value = values[index];
      if (value === undefined) return [text];
      if (typeof value === 'string') return [text, { name: value }];
      return typeof value === 'object' ? [text, ...value.parts] : [text, String(value)];
    }),
  };
}

/** The text with `$1`, `$2`, ... and the name of each. A name that occurs twice is one parameter. */
export function compileSql({ parts }: SqlFragment): { text: string; parameterNames: readonly string[] } {
  const parameterNames: string[] = [];
  const text = parts.map((part) => {
    if (typeof part === 'string') return part;
    if (!parameterNames.includes(part.name)) parameterNames.push(part.name);
    return `$${parameterNames.indexOf(part.name) + 1}`;
  });
  return { text: text.join(''), parameterNames };
}
