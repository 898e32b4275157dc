import type { Call } from './call.ts';
import { calls, type Inputs } from './generated/calls.ts';

/** A request of the API before it is sent. */
export interface ApiRequest {
  readonly call: Call;
  readonly method: Call['method'];
  /** Relative to the address of the API, with every input in its place, percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a call without a body. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export type CallName = keyof Inputs;

const CALLS: ReadonlyMap<string, Call> = new Map(
  Object.values(calls).flatMap((section) => Object.entries<Call>(section)),
);

/**
 * The request of a call, without sending it. Throws a `TypeError` for an input that the call does not take or that cannot
 * be sent. `accept` asks for another format of the reply, where the call has one.
 */
export function requestFor<Name extends CallName>(
  name: Name,
  input: Inputs[Name],
  { accept }: { readonly accept?: string } = {},
): ApiRequest {
  return placed(callNamed(name), input as Readonly<Record<string, unknown>>, accept);
}

/** The call of this name. Throws a `TypeError` where there is none. */
export function callNamed(name: CallName): Call {
  const call = CALLS.get(name);
  if (!call) throw new TypeError(`There is no call ${JSON.stringify(name)}.`);
  return call;
}

/** Puts each input where the call wants it. */
export function placed(call: Call, input: Readonly<Record<string, unknown>>, accept?: string): ApiRequest {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  rejectUnknown(
    call,
    given.map(([name]) => name),
  );
  const only = (names: readonly string[]) => given.filter(([name]) => names.includes(name));
  return {
    call,
    method: call.method,
    path: call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathSegment(call, name, input[name])),
    query: Object.fromEntries(only(call.query).flatMap(([name, value]) => queryPair(call, name, value))),
    headers: {
      ...(accept === undefined ? {} : { Accept: accept }),
      ...Object.fromEntries(
        only(Object.keys(call.headers)).map(([name, value]) => [
          call.headers[name] as string,
          headerValue(call, name, value),
        ]),
      ),
    },
    body:
      call.body &&
      Object.fromEntries(only(call.body).map(([name, value]) => [name, jsonValue(call, name, value)])),
  };
}

/** The path and query of a request, relative to the address of the API. */
export function targetOf({ path, query }: ApiRequest): string {
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

function rejectUnknown(call: Call, names: readonly string[]): void {
  const inPath = [...call.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const known = [...inPath, ...call.query, ...Object.keys(call.headers), ...(call.body ?? [])];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const accepted = known.length === 0 ? 'no input' : `only ${known.join(', ')}`;
  throw new TypeError(`${call.name} takes ${accepted}, and not ${JSON.stringify(unknown)}.`);
}

function pathSegment(call: Call, name: string, value: unknown): string {
  // A URL with an empty or a dotted segment is another path: `/keys/..` is `/`.
  if (typeof value !== 'string' || !value.isWellFormed() || ['', '.', '..'].includes(value))
    throw new TypeError(`${call.name} needs a ${name}: text other than "", "." and "..".`);
  return encodeURIComponent(value);
}

/** The API reads an empty parameter like an absent one. */
function queryPair(call: Call, name: string, value: unknown): [string, string][] {
  if (value === null || value === '') return [];
  if (typeof value === 'string' && value.isWellFormed()) return [[name, value]];
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return [[name, String(value)]];
  throw new TypeError(`${name} of ${call.name} must be text or a finite number.`);
}

function headerValue(call: Call, name: string, value: unknown): string {
  if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)) return value;
  throw new TypeError(`${name} of ${call.name} must be printable ASCII text.`);
}

/** JSON writes NaN and the infinities as null, and null lifts a limit: they are rejected here. */
function jsonValue(call: Call, name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => jsonValue(call, name, entry));
  if (isPlainObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(
      members.map(([key, member]) => [key, jsonValue(call, `${name}.${key}`, member)]),
    );
  }
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string' && value.isWellFormed()) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`${name} of ${call.name} cannot be sent as JSON; use text or a finite number.`);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
