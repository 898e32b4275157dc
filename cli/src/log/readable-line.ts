import { shown } from '../terminal/output.ts';

// On a terminal the log has one short line for each request and event. To a file or a pipe it is JSON.

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const MAX_VALUE = 200;
const MAX_LISTED = 5;
/** Fields that the line already shows, or that are not useful to a person. */
const OMITTED = new Set([
  ...['level', 'time', 'msg', 'event', 'pid', 'err', 'is_cut'],
  ...['service', 'version', 'role'],
]);
/** The text at the start says the same, and more. */
const SAID_AT_START = 'service.ready';

/** Converts a log line from JSON to the form for a person. */
export function readableLine(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>;
  if (entry['event'] === SAID_AT_START) return '';
  const text = entry['msg'] === 'request' ? requestOf(entry) : eventOf(entry);
  return `${clockOf(entry['time'])}  ${shown(text)}\n`;
}

function clockOf(time: unknown): string {
  return new Date(typeof time === 'number' ? time : 0).toTimeString().slice(0, 8);
}

function requestOf(entry: Record<string, unknown>): string {
  const { method, path, status, ms, model, key_prefix: key, refusal, remark } = entry;
  const milliseconds = `${typeof ms === 'number' ? Math.round(ms) : '?'} ms`;
  const parts = [
    status ?? 'gone',
    milliseconds.padStart(8),
    String(method).padEnd(6),
    path,
    model,
    key,
    costOf(entry),
    remark ?? refusal,
    failureOf(entry),
  ];
  return parts.filter((part) => part !== undefined).join('  ');
}

function costOf({ cost_pkr: cost }: Record<string, unknown>): string | undefined {
  return cost === undefined ? undefined : `${cost} PKR`;
}

function failureOf(entry: Record<string, unknown>): string | undefined {
  const { failed_provider: provider, failure } = entry;
  return failure === undefined ? undefined : `warn: ${provider} ${failure}`;
}

function eventOf(entry: Record<string, unknown>): string {
  const level = LEVELS[Number(entry['level'])];
  const error = entry['err'] as { readonly message?: unknown } | undefined;
  const members = Object.entries(entry)
    .filter(([name]) => !OMITTED.has(name))
    .map(([name, value]) => `${name}=${textOf(value)}`);
  const cause = error?.message === undefined ? [] : [`(${textOf(error.message)})`];
  return [...(level === undefined ? [] : [`${level}:`]), String(entry['msg']), ...cause, ...members].join(
    ' ',
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value) && value.length > MAX_LISTED) return `(${value.length})`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} ...` : text;
}
