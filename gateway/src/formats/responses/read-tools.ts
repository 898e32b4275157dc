import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalText,
  requireList,
  requireObject,
  requireOneOf,
  requireText,
} from '../translation/body-members.ts';
import type {
  CustomTool,
  FunctionTool,
  HostedTool,
  NamespacedName,
  Namespaces,
  Tool,
  ToolChoice,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { fittingName } from '../translation/tool-names.ts';

/** A tool as the caller declared it, with its place in the body. */
interface Declared {
  readonly tool: JsonObject;
  readonly path: string;
  readonly namespace?: string;
}

/** Members of a tool's declaration that have no meaning where all tools are loaded and called directly. */
const MEANINGLESS = new Set(['type', 'name', 'description', 'defer_loading']);
const FUNCTION_MEMBERS = new Set([...MEANINGLESS, 'parameters', 'strict', 'execution']);
const CUSTOM_MEMBERS = new Set([...MEANINGLESS, 'format']);

/** The name of the function that stands for a search for tools. */
export const TOOL_SEARCH = 'tool_search';

const MODES = ['auto', 'none', 'required'] as const;

export interface ToolsReading {
  readonly tools: readonly Tool[];
  /** The flat names of those in namespaces. */
  readonly names: FlatNames;
  /** True if the function `tool_search` is the caller's search for tools. */
  readonly hasToolSearch: boolean;
}

/** The tools of the request, wherever it declares them. */
export function readTools(body: JsonObject, input: readonly JsonObject[], losses: Losses): ToolsReading {
  const declared = [
    ...flatten(optionalList(body, 'tools') ?? [], 'tools'),
    // Codex declares its tools in the input for models that load them in the course of a conversation.
    ...input.flatMap((item, index) =>
      item['type'] === 'additional_tools' || item['type'] === 'tool_search_output'
        ? flatten(requireList(item['tools'] ?? [], `input[${index}].tools`), `input[${index}].tools`)
        : [],
    ),
  ];
  const plain = declared.flatMap(({ tool, namespace }) =>
    namespace === undefined && typeof tool['name'] === 'string' ? [tool['name']] : [],
  );
  const names = new FlatNames(plain);
  const tools = new Map<string, Tool>();
  for (const one of declared) {
    const tool = readTool(one, names, losses);
    const key = tool.kind === 'hosted' ? `hosted ${tool.type}` : `callable ${tool.name}`;
    // A tool that was found twice by a search is declared twice.
    if (!tools.has(key)) tools.set(key, tool);
  }
  return {
    tools: [...tools.values()],
    names,
    hasToolSearch: declared.some((one) => isToolSearch(one, names)),
  };
}

/** The names of the tools in a list that a search of the caller found. */
export function namesOfFound(list: unknown, path: string, names: FlatNames): readonly string[] {
  return flatten(requireList(list, path), path).map(({ tool, namespace, path: at }) =>
    names.of(namespace, requireText(tool['name'], `${at}.name`)),
  );
}

/** One that the caller runs, and that can have its own name here. */
function isToolSearch({ tool }: Declared, names: FlatNames): boolean {
  return tool['type'] === TOOL_SEARCH && tool['execution'] === 'client' && !names.isTaken(TOOL_SEARCH);
}

function flatten(list: readonly unknown[], path: string): Declared[] {
  return list.flatMap((value, index): Declared[] => {
    const at = `${path}[${index}]`;
    const tool = requireObject(value, at);
    if (tool['type'] !== 'namespace') return [{ tool, path: at }];
    const namespace = requireText(tool['name'], `${at}.name`);
    return requireList(tool['tools'], `${at}.tools`).map((inner, place) => ({
      tool: requireObject(inner, `${at}.tools[${place}]`),
      path: `${at}.tools[${place}]`,
      namespace,
    }));
  });
}

function readTool(declared: Declared, names: FlatNames, losses: Losses): Tool {
  const { tool, path, namespace } = declared;
  if (isToolSearch(declared, names))
    return readFunction({ ...tool, name: TOOL_SEARCH }, path, undefined, names, losses);
  const type = requireText(tool['type'], `${path}.type`);
  if (type === 'function') return readFunction(tool, path, namespace, names, losses);
  if (type === 'custom') return readCustom(tool, path, namespace, names, losses);
  const name = typeof tool['name'] === 'string' ? tool['name'] : undefined;
  const hosted: HostedTool = { kind: 'hosted', type };
  return name === undefined ? hosted : { ...hosted, name };
}

function readFunction(
  tool: JsonObject,
  path: string,
  namespace: string | undefined,
  names: FlatNames,
  losses: Losses,
): FunctionTool {
  disclose(tool, FUNCTION_MEMBERS, losses);
  return {
    kind: 'function',
    name: names.of(namespace, requireText(tool['name'], `${path}.name`)),
    ...defined({
      description: optionalText(tool, 'description', `${path}.description`),
      parameters: optionalObject(tool, 'parameters', `${path}.parameters`),
      strict: optionalBoolean(tool, 'strict', `${path}.strict`),
    }),
  };
}

function readCustom(
  tool: JsonObject,
  path: string,
  namespace: string | undefined,
  names: FlatNames,
  losses: Losses,
): CustomTool {
  disclose(tool, CUSTOM_MEMBERS, losses);
  const description = optionalText(tool, 'description', `${path}.description`);
  const format = optionalObject(tool, 'format', `${path}.format`);
  return {
    kind: 'custom',
    name: names.of(namespace, requireText(tool['name'], `${path}.name`)),
    ...(description !== undefined && { description }),
    // Any text is what a custom tool takes anyway.
    ...(format !== undefined && format['type'] !== 'text' && { format: nestedFormat(format) }),
  };
}

/** Chat has the grammar in an object of its own. */
function nestedFormat({ type, ...grammar }: JsonObject): JsonObject {
  return type === 'grammar' ? { type, grammar } : { type, ...grammar };
}

function disclose(tool: JsonObject, known: ReadonlySet<string>, losses: Losses): void {
  for (const [name, value] of Object.entries(tool)) {
    if (!known.has(name) && (value ?? null) !== null) losses.lose('unknownMember', `tools.${name}`);
  }
}

export function readToolChoice(value: unknown, names: FlatNames): ToolChoice | undefined {
  if ((value ?? null) === null) return undefined;
  if (typeof value === 'string') return { mode: requireOneOf(value, MODES, 'tool_choice') };
  const choice = requireObject(value, 'tool_choice');
  if (choice['type'] !== 'allowed_tools') return readForced(choice, 'tool_choice', names);
  const isRequired = requireOneOf(choice['mode'], ['auto', 'required'], 'tool_choice.mode') === 'required';
  const allowed = requireList(choice['tools'], 'tool_choice.tools').map((tool, index) =>
    readForced(requireObject(tool, `tool_choice.tools[${index}]`), `tool_choice.tools[${index}]`, names),
  );
  const callable = allowed.flatMap((tool) => (tool.mode === 'tool' ? [tool.name] : []));
  const hosted = allowed.find((tool) => tool.mode === 'hosted');
  // With no other tool to call, the answer would be one without any.
  if (callable.length === 0 && hosted && isRequired) return hosted;
  if (allowed.length === 0)
    throw new BodyError('tool_choice.tools must name at least one tool.', 'tool_choice');
  return { mode: 'allowed', names: callable, isRequired };
}

function readForced(
  choice: JsonObject,
  path: string,
  names: FlatNames,
): Extract<ToolChoice, { mode: 'tool' | 'hosted' }> {
  const type = requireText(choice['type'], `${path}.type`);
  if (type !== 'function' && type !== 'custom') return { mode: 'hosted', type };
  const namespace = optionalText(choice, 'namespace', `${path}.namespace`);
  return { mode: 'tool', name: names.of(namespace, requireText(choice['name'], `${path}.name`)) };
}

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
