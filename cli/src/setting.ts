import { ConfigError } from './config-error.ts';

/** An environment variable: its meaning and how its text is parsed. */
export interface Setting<T> {
  readonly name: string;
  readonly meaning: string;
  /** The default, as the docs describe it. */
  readonly fallbackText: string;
  /** What is accepted, for the docs and error messages. */
  readonly expected: string;
  /** Parses the text; undefined if it is not accepted. Called with undefined if the setting is not set. */
  readonly read: (text: string | undefined) => T | undefined;
  /** Whether the value must not be shown. */
  readonly isSecret: boolean;
}

export function setting<T>(
  name: string,
  meaning: string,
  form: {
    expected: string;
    fallback: T;
    fallbackText?: string;
    parse: (text: string) => T | undefined;
    isSecret?: boolean;
  },
): Setting<T> {
  return {
    name,
    meaning,
    expected: form.expected,
    fallbackText: form.fallbackText ?? String(form.fallback),
    isSecret: form.isSecret ?? false,
    read: (text) => (text === undefined ? form.fallback : form.parse(text)),
  };
}

export const wholeNumber = (min: number, max: number) => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: (text: string) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  },
});

export const address = (isAddress: (text: string) => boolean, ...schemes: string[]) => ({
  expected: `a well-formed address starting with ${schemes.join(' or ')}, with a port from 1 to 65535 if it has one`,
  parse: (text: string) =>
    schemes.some((scheme) => text.toLowerCase().startsWith(scheme)) && isAddress(text) ? text : undefined,
});

/** The value of one setting. Throws ConfigError if it is not accepted. */
export function settingValue<T>(
  { name, expected, isSecret, read }: Setting<T>,
  environment: Readonly<Record<string, string | undefined>>,
): T | undefined {
  const text = environment[name]?.trim() || undefined;
  const value = read(text);
  if (value === undefined && text !== undefined) {
    throw new ConfigError(
      `${name} is ${isSecret ? '(not shown)' : JSON.stringify(text)}, expected ${expected}`,
    );
  }
  return value;
}
