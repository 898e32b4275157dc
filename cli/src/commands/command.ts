import type { Readable } from 'node:stream';

// A command is a value: its words, what it takes, what it is for. The command line is read by it, the help is written
// from it, and its code is loaded only when it runs, so that help and a wrong word need not wait for the service.

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command has around it. */
export interface Context {
  /** The settings. Read when a command needs them, and not before. */
  environment(): Environment;
  /** Standard input, opened when it is asked for. */
  input(): Readable & { readonly isTTY?: boolean };
  /** To standard output, as it is. */
  out(text: string): void;
  /** To standard error, as it is. */
  err(text: string): void;
  /** Whether standard error is a terminal, where a line can be rewritten. */
  readonly isTerminal: boolean;
  /** Whether the answer is to be one JSON document. */
  readonly isJson: boolean;
}

/** Something that a command takes: an argument by its place, an option by its name and value, a flag by its name. */
export interface Input<IsRequired extends boolean = boolean> {
  readonly kind: 'argument' | 'option' | 'flag';
  /** How help names its value; of a flag, nothing. */
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
  /** What it does, to follow its name. */
  readonly summary: string;
  /** What else there is to know, a paragraph each. */
  readonly details: readonly string[];
  /** What --json does. */
  readonly jsonMeaning: string;
  /** Arguments in their order; an option or a flag has the name of its key. A flag that is given is an empty text. */
  readonly inputs: Inputs;
  /** Whole lines. */
  readonly examples: readonly string[];
  /** Resolves with the exit code. */
  readonly run: (args: Readonly<Record<string, string | undefined>>, context: Context) => Promise<number>;
}

export const JSON_MEANING = 'print one JSON document instead of text';

/** A command whose `run` gets what its inputs say. */
export function command<const I extends Inputs>(
  definition: Omit<Command, 'inputs' | 'run' | 'details' | 'jsonMeaning'> & {
    readonly details?: readonly string[];
    readonly jsonMeaning?: string;
    readonly inputs: I;
    readonly run: (args: Arguments<I>, context: Context) => Promise<number>;
  },
): Command {
  const { run } = definition;
  // The command line was read by the same inputs.
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
