import { defined } from '../../wire/json.ts';
import { BodyObject } from '../translation/body-object.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { Tool, ToolChoice } from '../translation/conversation.ts';

/** A tool of a chat request. */
export function readTool(tool: BodyObject): Tool {
  switch (tool.value['type']) {
    case 'function': {
      const declared = tool.object('function');
      return {
        kind: 'function',
        name: declared.text('name'),
        ...defined({
          description: declared.optionalText('description'),
          parameters: declared.optionalObject('parameters')?.value,
          strict: declared.optionalBoolean('strict'),
        }),
        ...readCacheControl(declared),
        ...readCacheControl(tool),
      };
    }
    case 'custom': {
      const declared = tool.object('custom');
      const format = declared.optionalObject('format')?.value;
      return {
        kind: 'custom',
        name: declared.text('name'),
        ...defined({
          description: declared.optionalText('description'),
          format: format?.['type'] === 'text' ? undefined : format,
        }),
      };
    }
    default:
      return { kind: 'hosted', type: tool.text('type') };
  }
}

/** The tool choice of a chat request. */
export function readToolChoice(body: BodyObject): ToolChoice | undefined {
  if (!body.has('tool_choice')) return undefined;
  const value = body.value['tool_choice'];
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value };
  if (typeof value === 'string') {
    throw body.error('tool_choice', 'must be auto, none, required or an object.');
  }
  const choice = body.object('tool_choice');
  const type = choice.text('type');
  switch (type) {
    case 'auto':
    case 'none':
    case 'required':
      return { mode: type };
    case 'function':
    case 'custom':
      return { mode: 'tool', name: choice.object(type).text('name') };
    case 'allowed_tools':
      return readAllowed(choice.object('allowed_tools'));
    default:
      return { mode: 'hosted', type };
  }
}

function readAllowed(allowed: BodyObject): ToolChoice {
  const names = Array.from(allowed.objects('tools'), ({ value, path, losses }) =>
    new BodyObject(value['function'] ?? value['custom'], path, losses).text('name'),
  );
  return { mode: 'allowed', names, isRequired: allowed.value['mode'] === 'required' };
}
