import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { membersIn } from '../../wire/scan-json.ts';
import { type Edit, editsWithout } from '../../wire/splice.ts';
import type { ToolPlace } from '../body-layout.ts';
import { toolTypesOf } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';

/** A list of tools under one name. They run at the client, so what counts is what is in it. */
const NAMESPACE = 'namespace';

/** Tools of OpenAI's own that are described to the model, and that the client runs. */
const RUN_BY_CLIENT: ReadonlySet<unknown> = new Set(['local_shell', 'apply_patch']);

/**
 * Hosted tools without which the model answers as well as it can. Clients declare them on every turn, wanted or not:
 * where they are not part of the price they are left out instead of refused.
 */
const DISPENSABLE: ReadonlySet<unknown> = new Set(['web_search']);

/**
 * The distinct types of the tools, of a namespace those within; empty for a tool without one. Tools stand in `tools`, and
 * in items of the input: those that are added on the way, and those that a search for tools has found.
 */
export function responsesToolTypes({ tools, input }: JsonObject): readonly string[] {
  return toolTypesOf([...listOf(tools), ...toolsInItems(input)].flatMap(judged));
}

/** The types of hosted tools that may be left out: those that nothing in the body counts on. */
export function dispensableTools({ tools, input, tool_choice: choice }: JsonObject): readonly string[] {
  const declared = listOf(tools);
  const types = new Set(declared.map(typeOf).filter((type) => DISPENSABLE.has(type)) as string[]);
  const mustCallOne = choice === 'required' && declared.every((tool) => DISPENSABLE.has(typeOf(tool)));
  const elsewhere = [...declared.flatMap(toolsWithin), ...toolsInItems(input).flatMap(judged)];
  const kept = new Set(elsewhere.map(typeOf));
  return mustCallOne ? [] : [...types].filter((type) => !kept.has(type) && !isForced(type, choice));
}

/** The places of the tools, by their types. */
export function toolSpans({ value, bytes, spans }: ParsedBody): readonly ToolPlace[] {
  const { tools } = value;
  const span = spans.get('tools');
  if (!Array.isArray(tools) || !span) return [];
  const { valueStart: offset, valueEnd } = span;
  return membersIn(bytes.subarray(offset, valueEnd)).map(({ valueStart, valueEnd: end }, index) => {
    const type = typeOf(tools[index]);
    const place = { start: offset + valueStart, end: offset + end };
    return { ...place, type: DISPENSABLE.has(type) ? (type as string) : '' };
  });
}

/** Takes the tools of these types out of their list. */
export function toolEdits(tools: readonly ToolPlace[], dropped: ReadonlySet<string>): Edit[] {
  return editsWithout(tools, (index) => dropped.has(tools[index]?.type ?? ''));
}

function typeOf(tool: unknown): unknown {
  return isJsonObject(tool) ? tool['type'] : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toolsWithin(tool: unknown): readonly unknown[] {
  return isJsonObject(tool) && tool['type'] === NAMESPACE ? listOf(tool['tools']) : [];
}

/** Whatever the type of the item. */
function toolsInItems(input: unknown): readonly unknown[] {
  return listOf(input).flatMap((item) => (isJsonObject(item) ? listOf(item['tools']) : []));
}

/** The tools that are judged: of a namespace those in it. One that the client runs is like a function. */
function judged(tool: unknown): readonly unknown[] {
  if (typeOf(tool) === NAMESPACE) return toolsWithin(tool);
  return isJsonObject(tool) && isRunByClient(tool) ? [{ type: 'function' }] : [tool];
}

function isRunByClient({ type, execution }: JsonObject): boolean {
  return type === 'tool_search' ? execution === 'client' : RUN_BY_CLIENT.has(type);
}

/** True if the choice of a tool names the type, by itself or in a list of allowed ones. */
function isForced(type: string, choice: unknown): boolean {
  if (!isJsonObject(choice)) return false;
  if (choice['type'] === type) return true;
  return Array.isArray(choice['tools']) && choice['tools'].some((tool) => isForced(type, tool));
}
