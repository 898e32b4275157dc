import { numberOf } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import type { Feature } from './feature-table.ts';
import type { Losses } from './losses.ts';

/**
 * An object in a body that is translated. A member is of the right kind, or refused by its path; a null is a member that is left out. By the
 * same path a feature is named that the translation loses.
 */
export class BodyObject {
  readonly value: JsonObject;
  /** Empty for the body itself. */
  readonly path: string;
  readonly losses: Losses;

  constructor(value: unknown, path: string, losses: Losses) {
    if (!isJsonObject(value)) throw new BodyError(`${path} must be an object.`, path);
    this.value = value;
    this.path = path;
    this.losses = losses;
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** The error that names a member. */
  error(name: string, words: string): BodyError {
    const path = this.pathOf(name);
    return new BodyError(`${path} ${words}`, path);
  }

  /** Records that a feature is not sent: of the object, or of a member. Throws a BodyError where that is refused. */
  lose(feature: Feature, name?: string): void {
    this.losses.lose(feature, name === undefined ? this.path : this.pathOf(name));
  }

  /** Records the members that are none of these, under the name that the caller's format has for the object. */
  loseOthers(known: ReadonlySet<string>, objectName: string): void {
    for (const name of Object.keys(this.value)) {
      if (!known.has(name) && this.has(name)) this.losses.lose('unknownMember', `${objectName}.${name}`);
    }
  }

  has(name: string): boolean {
    return this.value[name] !== undefined && this.value[name] !== null;
  }

  text(name: string): string {
    const value = this.value[name];
    if (typeof value !== 'string') throw this.error(name, 'must be a string.');
    return value;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.value[name] as T;
    if (!allowed.includes(value)) throw this.error(name, `must be one of ${allowed.join(', ')}.`);
    return value;
  }

  object(name: string): BodyObject {
    return new BodyObject(this.value[name], this.pathOf(name), this.losses);
  }

  list(name: string): readonly unknown[] {
    const value = this.value[name];
    if (!Array.isArray(value)) throw this.error(name, 'must be a list.');
    return value;
  }

  /** The objects of a list, each checked when its turn comes. */
  *objects(name: string): Generator<BodyObject> {
    const path = this.pathOf(name);
    for (const [index, value] of this.list(name).entries())
      yield new BodyObject(value, `${path}[${index}]`, this.losses);
  }

  /** The parts of a content, all checked: one for a text, none where it is left out. `kind` is the format's word for them. */
  content(kind: 'parts' | 'blocks', name = 'content'): readonly BodyObject[] {
    if (!this.has(name)) return [];
    const value = this.value[name];
    if (typeof value === 'string')
      return [new BodyObject({ type: 'text', text: value }, `${this.pathOf(name)}[0]`, this.losses)];
    if (!Array.isArray(value)) throw this.error(name, `must be a string or a list of ${kind}.`);
    return [...this.objects(name)];
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  optionalNumber(name: string): number | undefined {
    if (!this.has(name)) return undefined;
    const value = numberOf(this.value[name]);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.error(name, 'must be a number.');
    return value;
  }

  optionalBoolean(name: string): boolean | undefined {
    if (!this.has(name)) return undefined;
    const value = this.value[name];
    if (typeof value !== 'boolean') throw this.error(name, 'must be true or false.');
    return value;
  }

  optionalObject(name: string): BodyObject | undefined {
    return this.has(name) ? this.object(name) : undefined;
  }

  optionalObjects(name: string): Iterable<BodyObject> {
    return this.has(name) ? this.objects(name) : [];
  }

  optionalTexts(name: string): readonly string[] | undefined {
    if (!this.has(name)) return undefined;
    return this.list(name).map((value, index) => {
      if (typeof value !== 'string') throw this.error(`${name}[${index}]`, 'must be a string.');
      return value;
    });
  }
}
