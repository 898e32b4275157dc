import { MemberReader } from '../wire/member-reader.ts';
import type { Usage, UsageReader } from './protocol.ts';

/** Reads the usage of an answer of which nothing else is wanted. */
export class UsageMember implements UsageReader {
  readonly #member = new MemberReader('usage');
  readonly #read: (value: unknown) => Usage | undefined;

  constructor(read: (value: unknown) => Usage | undefined) {
    this.#read = read;
  }

  get usage(): Usage | undefined {
    return this.#read(this.#member.value);
  }

  push(chunk: Buffer): void {
    this.#member.push(chunk);
  }
}
