import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalObject,
  optionalText,
  requireList,
  requireObject,
  requireText,
} from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { Tool, ToolChoice } from '../translation/conversation.ts';

/** The tools of a chat request. */
export function readTools(list: readonly unknown[]): readonly Tool[] {
  return list.map((item, index) => readTool(requireObject(item, `tools[${index}]`), `tools[${index}]`));
}

function readTool(tool: JsonObject, path: string): Tool {
  switch (tool['type']) {
    case 'function': {
      const declared = requireObject(tool['function'], `${path}.function`);
      return {
        kind: 'function',
        name: requireText(declared['name'], `${path}.function.name`),
        ...defined({
          description: optionalText(declared, 'description', `${path}.function.description`),
          parameters: optionalObject(declared, 'parameters', `${path}.function.parameters`),
          strict: optionalBoolean(declared, 'strict', `${path}.function.strict`),
        }),
        ...readCacheControl(declared),
        ...readCacheControl(tool),
      };
    }
    case 'custom': {
      const declared = requireObject(tool['custom'], `${path}.custom`);
      const format = optionalObject(declared, 'format', `${path}.custom.format`);
      return {
        kind: 'custom',
        name: requireText(declared['name'], `${path}.custom.name`),
        ...defined({
          description: optionalText(declared, 'description', `${path}.custom.description`),
          format: format?.['type'] === 'text' ? undefined : format,
        }),
      };
    }
    default:
      return { kind: 'hosted', type: requireText(tool['type'], `${path}.type`) };
  }
}

/** The tool choice of a chat request. */
export function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value };
  if (typeof value === 'string') {
    throw new BodyError('tool_choice must be auto, none, required or an object.', 'tool_choice');
  }
  const choice = requireObject(value, 'tool_choice');
  const type = requireText(choice['type'], 'tool_choice.type');
  switch (type) {
    case 'auto':
    case 'none':
    case 'required':
      return { mode: type };
    case 'function':
    case 'custom': {
      const named = requireObject(choice[type], `tool_choice.${type}`);
      return { mode: 'tool', name: requireText(named['name'], `tool_choice.${type}.name`) };
    }
    case 'allowed_tools':
      return readAllowed(requireObject(choice['allowed_tools'], 'tool_choice.allowed_tools'));
    default:
      return { mode: 'hosted', type };
  }
}

function readAllowed(allowed: JsonObject): ToolChoice {
  const path = 'tool_choice.allowed_tools';
  const names = requireList(allowed['tools'], `${path}.tools`).map((item, index) => {
    const at = `${path}.tools[${index}]`;
    const tool = requireObject(item, at);
    const named = tool['function'] ?? tool['custom'];
    return requireText(requireObject(named, at)['name'], `${at}.name`);
  });
  return { mode: 'allowed', names, isRequired: allowed['mode'] === 'required' };
}
