import { numberOf } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';

// How the members of a caller's body are read: of the right kind, or refused by their path. A null is a member that is
// left out.

type Path = string;

export function requireText(value: unknown, path: Path): string {
  if (typeof value !== 'string') throw new BodyError(`${path} must be a string.`, path);
  return value;
}

export function requireObject(value: unknown, path: Path): JsonObject {
  if (!isJsonObject(value)) throw new BodyError(`${path} must be an object.`, path);
  return value;
}

export function requireList(value: unknown, path: Path): readonly unknown[] {
  if (!Array.isArray(value)) throw new BodyError(`${path} must be a list.`, path);
  return value;
}

export function requireOneOf<T extends string>(value: unknown, allowed: readonly T[], path: Path): T {
  if (!allowed.includes(value as T))
    throw new BodyError(`${path} must be one of ${allowed.join(', ')}.`, path);
  return value as T;
}

export function optionalText(holder: JsonObject, name: string, path: Path = name): string | undefined {
  const value = holder[name] ?? undefined;
  return value === undefined ? undefined : requireText(value, path);
}

export function optionalNumber(holder: JsonObject, name: string, path: Path = name): number | undefined {
  const value = numberOf(holder[name]) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new BodyError(`${path} must be a number.`, path);
  return value;
}

export function optionalBoolean(holder: JsonObject, name: string, path: Path = name): boolean | undefined {
  const value = holder[name] ?? undefined;
  if (value !== undefined && typeof value !== 'boolean') {
    throw new BodyError(`${path} must be true or false.`, path);
  }
  return value;
}

export function optionalObject(holder: JsonObject, name: string, path: Path = name): JsonObject | undefined {
  const value = holder[name] ?? undefined;
  return value === undefined ? undefined : requireObject(value, path);
}

export function optionalList(
  holder: JsonObject,
  name: string,
  path: Path = name,
): readonly unknown[] | undefined {
  const value = holder[name] ?? undefined;
  return value === undefined ? undefined : requireList(value, path);
}

export function optionalTexts(
  holder: JsonObject,
  name: string,
  path: Path = name,
): readonly string[] | undefined {
  return optionalList(holder, name, path)?.map((value, index) => requireText(value, `${path}[${index}]`));
}

/** The object without the members that are undefined: an absent member stays absent. */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};
