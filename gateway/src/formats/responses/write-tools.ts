import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { defined } from '../translation/body-members.ts';
import { type CallableTools, callableTools, type PlainToolChoice } from '../translation/callable-tools.ts';
import type { Conversation, CustomTool, FunctionTool, ToolChoice } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import type { ToolNames } from '../translation/tool-names.ts';
import { argumentsSchema } from '../translation/tool-schema.ts';

/** The tools, and the choice among them. */
export function writeTools(conversation: Conversation, names: ToolNames, losses: Losses): JsonObject {
  const { toolChoice, parallelToolCalls } = conversation;
  const { toolChoice: _, ...unchosen } = conversation;
  // This format can say which tools are allowed, so all are declared: what comes before them stays in the cache.
  const allowed = toolChoice?.mode === 'allowed' ? toolChoice : undefined;
  const { tools, choice } = callableTools(allowed ? unchosen : conversation, losses);
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) =>
      tool.kind === 'function' ? writeFunction(tool, names) : writeCustom(tool, names),
    ),
    ...defined({
      tool_choice: writeToolChoice(allowed ?? choice, tools, names),
      parallel_tool_calls: parallelToolCalls,
    }),
  };
}

function writeFunction(
  { name, description, parameters, strict }: FunctionTool,
  names: ToolNames,
): JsonObject {
  return {
    type: 'function',
    name: names.sent(name),
    ...defined({ description }),
    parameters: argumentsSchema(parameters),
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

function writeToolChoice(
  choice: PlainToolChoice | Extract<ToolChoice, { mode: 'allowed' }> | undefined,
  tools: CallableTools['tools'],
  names: ToolNames,
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
    default:
      return choice.mode;
  }
}
