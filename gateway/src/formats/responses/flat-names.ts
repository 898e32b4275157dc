import { BodyError } from '../request-facts.ts';
import type { NamespacedName, Namespaces } from '../translation/conversation.ts';
import { fittingName } from '../translation/tool-names.ts';

// Responses groups tools under namespaces, and a call names both. The other formats have one flat list of names, so a
// tool of a namespace is sent as `namespace__name`. Codex runs a call only if it comes back with the namespace.

/** The longest name of a function that OpenAI and Anthropic take. */
const MAX_NAME_LENGTH = 64;
/** Each tool in a namespace is sent with its name, and a call of it comes back with it. */
const MAX_NAMESPACE_LENGTH = 256;

/** Gives each tool of a namespace a name of its own in the flat list; the same one on every turn. */
export class FlatNames {
  readonly #owners = new Map<string, string>();
  readonly #namespaces = new Map<string, NamespacedName>();

  /** The names of the tools outside namespaces, which keep them. */
  constructor(plainNames: Iterable<string>) {
    for (const name of plainNames) this.#owners.set(name, identity(undefined, name));
  }

  /** True if a tool outside namespaces has this name. */
  isTaken(name: string): boolean {
    return this.#owners.get(name) === identity(undefined, name);
  }

  get namespaces(): Namespaces | undefined {
    return this.#namespaces.size === 0 ? undefined : Object.fromEntries(this.#namespaces);
  }

  of(namespace: string | undefined, name: string): string {
    if (namespace === undefined) return name;
    if (namespace.length > MAX_NAMESPACE_LENGTH) {
      throw new BodyError(`A namespace must have at most ${MAX_NAMESPACE_LENGTH} characters.`, 'namespace');
    }
    const own = identity(namespace, name);
    const readable = fittingName(`${namespace}__${name}`, MAX_NAME_LENGTH);
    const owner = this.#owners.get(readable) ?? own;
    // By its own name and nothing else: a name that depended on the other tools would change with them, and a
    // provider's prompt cache with it.
    const flat = owner === own ? readable : fittingName(own, MAX_NAME_LENGTH);
    this.#owners.set(flat, own);
    this.#namespaces.set(flat, { namespace, name });
    return flat;
  }
}

function identity(namespace: string | undefined, name: string): string {
  return JSON.stringify([namespace ?? null, name]);
}
