import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalObject,
  optionalText,
  requireObject,
  requireText,
} from '../translation/body-members.ts';
import { argumentsSchema, isStrictSchema } from '../translation/bounded-schema.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { Tool, ToolChoice } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';

const KNOWN = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

/** The tools of a messages request. */
export function readTools(list: readonly unknown[], losses: Losses): readonly Tool[] {
  return list.map((item, index) => {
    const path = `tools[${index}]`;
    const tool = requireObject(item, path);
    const type = optionalText(tool, 'type', `${path}.type`) ?? 'custom';
    if (type !== 'custom') {
      return { kind: 'hosted', type, ...defined({ name: optionalText(tool, 'name', `${path}.name`) }) };
    }
    for (const name of Object.keys(tool)) {
      if (!KNOWN.has(name)) losses.lose('unknownMember', `tools[].${name}`);
    }
    const parameters = optionalObject(tool, 'input_schema', `${path}.input_schema`);
    const strict = optionalBoolean(tool, 'strict', `${path}.strict`);
    // OpenAI refuses a strict tool with optional members, which Anthropic takes.
    const isTaken = strict !== true || isStrictSchema(argumentsSchema(parameters));
    if (!isTaken) losses.lose('strictFunctions', `${path}.strict`);
    return {
      kind: 'function',
      name: requireText(tool['name'], `${path}.name`),
      ...defined({
        description: optionalText(tool, 'description', `${path}.description`),
        parameters,
        strict: isTaken ? strict : undefined,
      }),
      ...readCacheControl(tool),
    };
  });
}

export function readToolChoice(choice: JsonObject, tools: readonly Tool[]): ToolChoice {
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return { mode: choice['type'] };
    case 'any':
      return { mode: 'required' };
    case 'tool': {
      const name = requireText(choice['name'], 'tool_choice.name');
      const hosted = tools.find((tool) => tool.kind === 'hosted' && tool.name === name);
      return hosted?.kind === 'hosted' ? { mode: 'hosted', type: hosted.type } : { mode: 'tool', name };
    }
    default:
      throw new BodyError('tool_choice.type must be auto, any, none or tool.', 'tool_choice.type');
  }
}
