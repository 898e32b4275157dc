import { defined } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import { fittingName } from '../peculiarities/request-rules.ts';
import type { BodyObject } from '../translation/body-object.ts';
import { customFormat } from '../translation/callers-tools.ts';
import type {
  CustomTool,
  FunctionTool,
  NamespacedName,
  Namespaces,
  Tool,
  ToolChoice,
} from '../translation/conversation.ts';
import { readCacheControl } from '../translation/part-members.ts';

/** A tool as the caller declared it. */
interface Declared {
  readonly tool: BodyObject;
  readonly namespace?: string;
}

/** Members of a tool's declaration that have no meaning where all tools are loaded and called directly. */
const MEANINGLESS = new Set(['type', 'name', 'description', 'defer_loading']);
const FUNCTION_MEMBERS = new Set([...MEANINGLESS, 'parameters', 'strict', 'execution', 'cache_control']);
const CUSTOM_MEMBERS = new Set([...MEANINGLESS, 'format']);

/** The name of the function that stands for a search for tools. */
export const TOOL_SEARCH = 'tool_search';

const MODES = ['auto', 'none', 'required'] as const;

interface ToolsReading {
  readonly tools: readonly Tool[];
  /** The flat names of those in namespaces. */
  readonly names: FlatNames;
  /** True if the function `tool_search` is the caller's search for tools. */
  readonly hasToolSearch: boolean;
}

/** The tools of the request, wherever it declares them. */
export function readTools(body: BodyObject, input: readonly BodyObject[]): ToolsReading {
  const declared = [
    ...flattened(body),
    // Codex declares its tools in the input for models that load them in the course of a conversation.
    ...input.flatMap((item) => {
      const { type } = item.value;
      return type === 'additional_tools' || type === 'tool_search_output' ? [...flattened(item)] : [];
    }),
  ];
  const plain = declared.flatMap(({ tool, namespace }) => {
    const { name } = tool.value;
    return namespace === undefined && typeof name === 'string' ? [name] : [];
  });
  const names = new FlatNames(plain);
  const tools = new Map<string, Tool>();
  for (const one of declared) {
    const tool = readTool(one, names);
    const key = tool.kind === 'hosted' ? `hosted ${tool.type}` : `callable ${tool.name}`;
    // A tool that was found twice by a search is declared twice.
    if (!tools.has(key)) tools.set(key, tool);
  }
  return {
    tools: [...tools.values()],
    names,
    hasToolSearch: declared.some(({ tool }) => isToolSearch(tool, names)),
  };
}

/** The names of the tools that a search of the caller found. */
export function namesOfFound(item: BodyObject, names: FlatNames): readonly string[] {
  const found = [...flattened(item)];
  return found.map(({ tool, namespace }) => names.of(namespace, tool.text('name')));
}

/** One that the caller runs, and that can have its own name here. */
function isToolSearch({ value: { type, execution } }: BodyObject, names: FlatNames): boolean {
  return type === TOOL_SEARCH && execution === 'client' && !names.isTaken(TOOL_SEARCH);
}

/** The tools in the member `tools`, those of a namespace in its place. */
function* flattened(holder: BodyObject): Generator<Declared> {
  for (const tool of holder.optionalObjects('tools')) {
    if (tool.value['type'] !== 'namespace') {
      yield { tool };
      continue;
    }
    const namespace = tool.text('name');
    for (const inner of tool.objects('tools')) yield { tool: inner, namespace };
  }
}

function readTool({ tool, namespace }: Declared, names: FlatNames): Tool {
  if (isToolSearch(tool, names)) return readFunction(tool, TOOL_SEARCH);
  const type = tool.text('type');
  if (type === 'function') return readFunction(tool, names.of(namespace, tool.text('name')));
  if (type === 'custom') return readCustom(tool, names.of(namespace, tool.text('name')));
  const { name } = tool.value;
  return { kind: 'hosted', type, ...(typeof name === 'string' && { name }) };
}

function readFunction(tool: BodyObject, name: string): FunctionTool {
  tool.loseOthers(FUNCTION_MEMBERS, 'tools');
  return {
    kind: 'function',
    name,
    ...defined({
      description: tool.optionalText('description'),
      parameters: tool.optionalObject('parameters')?.value,
      strict: tool.optionalBoolean('strict'),
    }),
    ...readCacheControl(tool),
  };
}

function readCustom(tool: BodyObject, name: string): CustomTool {
  tool.loseOthers(CUSTOM_MEMBERS, 'tools');
  const description = tool.optionalText('description');
  const format = customFormat(tool.optionalObject('format')?.value);
  return { kind: 'custom', name, ...defined({ description, format }) };
}

export function readToolChoice(body: BodyObject, names: FlatNames): ToolChoice | undefined {
  if (!body.has('tool_choice')) return undefined;
  if (typeof body.value['tool_choice'] === 'string') return { mode: body.oneOf('tool_choice', MODES) };
  const choice = body.object('tool_choice');
  if (choice.value['type'] !== 'allowed_tools') return readForced(choice, names);
  const isRequired = choice.oneOf('mode', ['auto', 'required']) === 'required';
  const allowed = Array.from(choice.objects('tools'), (tool) => readForced(tool, names));
  const callable = allowed.flatMap((tool) => (tool.mode === 'tool' ? [tool.name] : []));
  const hosted = allowed.find((tool) => tool.mode === 'hosted');
  // With no other tool to call, the answer would be one without any.
  if (callable.length === 0 && hosted && isRequired) return hosted;
  if (allowed.length === 0)
    throw new BodyError('tool_choice.tools must name at least one tool.', 'tool_choice');
  return { mode: 'allowed', names: callable, isRequired };
}

function readForced(choice: BodyObject, names: FlatNames): Extract<ToolChoice, { mode: 'tool' | 'hosted' }> {
  const type = choice.text('type');
  if (type !== 'function' && type !== 'custom') return { mode: 'hosted', type };
  return { mode: 'tool', name: names.of(choice.optionalText('namespace'), choice.text('name')) };
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
