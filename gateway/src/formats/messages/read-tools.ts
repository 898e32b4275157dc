import { defined } from '../../wire/json.ts';
import type { BodyObject } from '../translation/body-object.ts';
import { argumentsSchema, isStrictSchema } from '../translation/bounded-schema.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { Tool, ToolChoice } from '../translation/conversation.ts';

const KNOWN = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

/** A tool of a messages request. */
export function readTool(tool: BodyObject): Tool {
  const type = tool.optionalText('type') ?? 'custom';
  if (type !== 'custom') return { kind: 'hosted', type, ...defined({ name: tool.optionalText('name') }) };
  for (const name of Object.keys(tool.value)) {
    if (!KNOWN.has(name)) tool.losses.lose('unknownMember', `tools[].${name}`);
  }
  const parameters = tool.optionalObject('input_schema')?.value;
  const strict = tool.optionalBoolean('strict');
  // OpenAI refuses a strict tool with optional members, which Anthropic takes.
  const isTaken = strict !== true || isStrictSchema(argumentsSchema(parameters));
  if (!isTaken) tool.lose('strictFunctions', 'strict');
  return {
    kind: 'function',
    name: tool.text('name'),
    ...defined({
      description: tool.optionalText('description'),
      parameters,
      strict: isTaken ? strict : undefined,
    }),
    ...readCacheControl(tool),
  };
}

export function readToolChoice(choice: BodyObject, tools: readonly Tool[]): ToolChoice {
  const { type } = choice.value;
  switch (type) {
    case 'auto':
    case 'none':
      return { mode: type };
    case 'any':
      return { mode: 'required' };
    case 'tool': {
      const name = choice.text('name');
      const hosted = tools.find((tool) => tool.kind === 'hosted' && tool.name === name);
      return hosted?.kind === 'hosted' ? { mode: 'hosted', type: hosted.type } : { mode: 'tool', name };
    }
    default:
      throw choice.error('type', 'must be auto, any, none or tool.');
  }
}
