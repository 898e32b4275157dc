import { ConfigError } from './config-error.ts';
import { fileVariable, textOf } from './setting-text.ts';
import { NOT_SHOWN, shownAddress, shownText } from './shown-value.ts';

/** An environment variable: its meaning and how its text is parsed. */
export interface Setting<T> {
  readonly name: string;
  readonly meaning: string;
  /** The default, as the docs describe it. */
  readonly fallbackText: string;
  /** The accepted values, for the docs and error messages. */
  readonly expected: string;
  /** Parses the text; undefined if it is not accepted. Called with undefined if the setting is not set. */
  readonly read: (text: string | undefined) => T | undefined;
  /** The text for an error message, without its secrets. */
  readonly show: (text: string) => string;
  /** The variable that may name a file with the text instead: `DATABASE_URL_FILE`. */
  readonly fileVariable: string | undefined;
  /** True if the name counts in lower case too, and first. */
  readonly hasLowerCaseName: boolean;
  /** Advice in place of a text that is not accepted, where it is known. */
  readonly hint?: ((text: string) => string | undefined) | undefined;
}

export interface Form<T> {
  readonly expected: string;
  readonly fallback: T;
  readonly fallbackText?: string;
  readonly parse: (text: string) => T | undefined;
  /** True if no part of the value may be shown. */
  readonly isSecret?: boolean;
  readonly show?: (text: string) => string;
  /** True if it may hold a secret, and so may be in a file. */
  readonly mayBeInFile?: boolean;
  readonly hasLowerCaseName?: boolean;
  readonly hint?: (text: string) => string | undefined;
}

export function setting<T>(name: string, meaning: string, form: Form<T>): Setting<T> {
  return {
    name,
    meaning,
    expected: form.expected,
    fallbackText: form.fallbackText ?? String(form.fallback),
    hint: form.hint,
    show: form.show ?? (form.isSecret ? () => NOT_SHOWN : shownText),
    fileVariable: form.mayBeInFile ? fileVariable(name) : undefined,
    hasLowerCaseName: form.hasLowerCaseName ?? false,
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
  show: shownAddress,
  // It may have a password in it.
  mayBeInFile: true,
});

export const path = {
  expected: 'a path',
  parse: (text: string) => (text.includes('\0') ? undefined : text),
};

/** A value, or the issue with it. */
export interface SettingReading<T> {
  readonly value: T | undefined;
  readonly issue?: string;
}

/** The value of one setting. */
export function readSetting<T>(
  setting: Setting<T>,
  environment: Readonly<Record<string, string | undefined>>,
): SettingReading<T> {
  const { text, source, issue } = textOf(setting, environment);
  if (issue !== undefined) return { value: undefined, issue };
  const value = setting.read(text);
  return value === undefined && text !== undefined
    ? { value, issue: issueWith(setting, text, source) }
    : { value };
}

/** The value of one setting. Throws ConfigError if it is not accepted. */
export function settingValue<T>(
  setting: Setting<T>,
  environment: Readonly<Record<string, string | undefined>>,
): T | undefined {
  const { value, issue } = readSetting(setting, environment);
  if (issue !== undefined) throw new ConfigError(issue);
  return value;
}

// The value that Kubernetes gives to GATEWAY_PORT in each pod beside a Service named "gateway".
const SERVICE_LINK = /^tcp:\/\/[0-9a-f.:[\]]+$/i;
// Longer defaults are explained in the documentation.
const MAX_DEFAULT_LENGTH = 40;

function issueWith(
  { name, expected, show, hint, fallbackText }: Setting<unknown>,
  text: string,
  source: string,
): string {
  const isShort = fallbackText.length <= MAX_DEFAULT_LENGTH && !fallbackText.includes('`');
  const remedy =
    SERVICE_LINK.test(text) && name.endsWith('_PORT')
      ? 'Kubernetes sets this variable for a Service of that name: set enableServiceLinks: false in the pod'
      : (hint?.(text) ?? `correct it, or remove it for the default${isShort ? ` (${fallbackText})` : ''}`);
  return `${source.toUpperCase() === name ? `${source} is` : `the file of ${source} holds`} ${show(text)}, expected ${expected}; ${remedy}`;
}
