import { readFileSync } from 'node:fs';

/*
 * The text of a variable, or of the file that `NAME_FILE` names: a secret that is mounted as a file is then in no
 * environment, which child processes inherit and `docker inspect` shows.
 */

export interface VariableText {
  /** Without the white space around it; undefined where it is not set. */
  readonly text: string | undefined;
  /** The variable that it came from. */
  readonly source: string;
  /** Why it cannot be used, without the text. */
  readonly issue?: string;
}

export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

export function textOf(
  {
    name: upperName,
    fileVariable,
    hasLowerCaseName = false,
  }: {
    readonly name: string;
    readonly fileVariable: string | undefined;
    readonly hasLowerCaseName?: boolean;
  },
  environment: Readonly<Record<string, string | undefined>>,
): VariableText {
  const lowerName = upperName.toLowerCase();
  const isLower = hasLowerCaseName && variableIn(environment, lowerName) !== undefined;
  const name = isLower ? lowerName : upperName;
  const text = variableIn(environment, name);
  const path = fileVariable && variableIn(environment, fileVariable);
  if (fileVariable === undefined || path === undefined) return checked({ text, source: name });
  if (text !== undefined)
    return { text, source: name, issue: `${name} and ${fileVariable} are set; expected one of them` };
  return checked(fromFile(name, fileVariable, path));
}

function fromFile(name: string, source: string, path: string): VariableText {
  const about = `${source} is ${JSON.stringify(path)}`;
  const remedy = `set it to a file that holds the value of ${name}, or remove it`;
  try {
    const text =
      readFileSync(path, 'utf8')
        .replace(/^\uFEFF/, '')
        .trim() || undefined;
    return { text, source, ...(text === undefined && { issue: `${about}, which is empty; ${remedy}` }) };
  } catch (error) {
    const { message } = error as Error;
    return { text: undefined, source, issue: `${about}, which cannot be read: ${message}; ${remedy}` };
  }
}

const QUOTED = /^(["'])[\s\S]*\1$/;

/** No value has quotes around it: a shell takes them off, and `--env-file` of Docker and Podman keeps them. */
function checked(variable: VariableText): VariableText {
  const { text, source, issue } = variable;
  if (issue !== undefined || text === undefined || text.length < 2 || !QUOTED.test(text)) return variable;
  const about = `${source} has quotes around its value, which are part of it where --env-file reads it`;
  return { ...variable, issue: `${about}; remove the quotes` };
}

/** The value of a variable that an operator or a catalogue names, such as `constructor`. An empty one counts as unset. */
export function variableIn(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name]?.trim() || undefined : undefined;
}
