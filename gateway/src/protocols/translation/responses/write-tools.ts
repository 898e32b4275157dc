import { isJsonObject, type JsonObject } from '../../json.ts';
import { defined } from '../body-members.ts';
import type { Conversation, CustomTool, FunctionTool, Tool } from '../conversation.ts';
import type { Losses } from '../losses.ts';
import type { ToolNames } from '../tool-names.ts';

export function writeTools(tools: readonly Tool[], names: ToolNames, losses: Losses): JsonObject[] {
  return tools.flatMap((tool): JsonObject[] => {
    if (tool.kind === 'function') return [writeFunction(tool, names)];
    if (tool.kind === 'custom') return [writeCustom(tool, names)];
    losses.lose('hostedTools', `tools[${tool.type}]`);
    return [];
  });
}

function writeFunction(
  { name, description, parameters, strict }: FunctionTool,
  names: ToolNames,
): JsonObject {
  return {
    type: 'function',
    name: names.sent(name),
    ...defined({ description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    // Left out, it means true here, and false everywhere else.
    strict: strict ?? false,
  };
}

function writeCustom({ name, description, format }: CustomTool, names: ToolNames): JsonObject {
  const grammar = format?.['grammar'];
  return {
    type: 'custom',
    name: names.sent(name),
    ...defined({ description, format: isJsonObject(grammar) ? { type: 'grammar', ...grammar } : format }),
  };
}

export function writeToolChoice(
  { toolChoice: choice, tools }: Conversation,
  names: ToolNames,
  losses: Losses,
): JsonObject | string | undefined {
  const named = (name: string): JsonObject => {
    const isCustom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
    return { type: isCustom ? 'custom' : 'function', name: names.sent(name) };
  };
  if (!choice) return undefined;
  switch (choice.mode) {
    case 'tool':
      return named(choice.name);
    case 'allowed': {
      const mode = choice.isRequired ? 'required' : 'auto';
      return { type: 'allowed_tools', mode, tools: choice.names.map(named) };
    }
    case 'hosted':
      losses.lose('forcedHostedTool');
      return undefined;
    default:
      return choice.mode;
  }
}
