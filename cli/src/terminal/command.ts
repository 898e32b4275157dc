import type { Readable } from 'node:stream';

// A command is a value: name, inputs, help. The command line is parsed by it and the help is generated from it. Its code
// is loaded only when it runs, so that help and usage errors are fast.

export type Environment = Readonly<Record<string, string | undefined>>;

/** The means that a command gets from its process. */
export interface Context {
  /** The settings. Read when a command needs them. */
  environment(): Environment;
  /** Standard input, opened on the first call. */
  input(): Readable & { readonly isTTY?: boolean };
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** True if standard error is a terminal, where a line can be rewritten. */
  readonly isTerminal: boolean;
  /** How many characters a line of standard output has; left out where it is no terminal. */
  readonly width?: number | undefined;
  /** True to print one JSON document. */
  readonly isJson: boolean;
}

/** An argument (by position), an option (name and value) or a flag (name). */
export interface Input<IsRequired extends boolean = boolean> {
  readonly kind: 'argument' | 'option' | 'flag';
  /** The value's name in help; empty for a flag. */
  readonly placeholder: string;
  readonly meaning: string;
  readonly isRequired: IsRequired;
}

export type Inputs = Readonly<Record<string, Input>>;

export type Arguments<I extends Inputs> = {
  readonly [Name in keyof I]: I[Name] extends Input<true> ? string : string | undefined;
};

export interface Command {
  /** `org deposit`. */
  readonly name: string;
  /** The effect of the command; follows the name in help. */
  readonly summary: string;
  /** More help, one paragraph each. */
  readonly details: readonly string[];
  /** The effect of --json. */
  readonly jsonMeaning: string;
  /** Arguments in order; the key of an option or flag is its name. A flag that is set is an empty string. */
  readonly inputs: Inputs;
  /** Complete command lines. */
  readonly examples: readonly string[];
  /** Resolves with the exit code. */
  readonly run: (args: Readonly<Record<string, string | undefined>>, context: Context) => Promise<number>;
}

export const JSON_MEANING = 'print one JSON document instead of text';

/** A command whose `run` gets typed arguments. */
export function command<const I extends Inputs>(
  definition: Omit<Command, 'inputs' | 'run' | 'details' | 'jsonMeaning'> & {
    readonly details?: readonly string[];
    readonly jsonMeaning?: string;
    readonly inputs: I;
    readonly run: (args: Arguments<I>, context: Context) => Promise<number>;
  },
): Command {
  const { run } = definition;
  // The command line was parsed with the same inputs.
  return {
    details: [],
    jsonMeaning: JSON_MEANING,
    ...definition,
    run: (args, context) => run(args as Arguments<I>, context),
  };
}

export function argument(placeholder: string, meaning: string): Input<true> {
  return { kind: 'argument', placeholder, meaning, isRequired: true };
}

export function optionalArgument(placeholder: string, meaning: string): Input<false> {
  return { kind: 'argument', placeholder, meaning, isRequired: false };
}

export function option(placeholder: string, meaning: string): Input<false> {
  return { kind: 'option', placeholder, meaning, isRequired: false };
}

export function requiredOption(placeholder: string, meaning: string): Input<true> {
  return { kind: 'option', placeholder, meaning, isRequired: true };
}

export function flag(meaning: string): Input<false> {
  return { kind: 'flag', placeholder: '', meaning, isRequired: false };
}

export const ORG = argument('ORG', 'the organisation: its id, or its name in any spelling');
export const YES = flag('do not ask');
export const EMAIL = argument('EMAIL', 'the address of the account');
