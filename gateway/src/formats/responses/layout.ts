import type { Edit } from '../../wire/splice.ts';
import { type BodyLayout, bodyEdits, layoutOf, type UpstreamTarget } from '../body-layout.ts';
import type { ParsedBody } from '../parse-body.ts';
import { dispensableTools, toolEdits, toolSpans } from './tools.ts';

const CAP = ['max_output_tokens'] as const;

export function responsesLayout(body: ParsedBody): BodyLayout {
  const layout = layoutOf(body);
  return dispensableTools(body.value).length === 0 ? layout : { ...layout, tools: toolSpans(body) };
}

/** The edits that make a caller's body the provider's. Usage comes without being asked for. */
export function responsesEdits(layout: BodyLayout, target: UpstreamTarget): Edit[] {
  const edits = [...bodyEdits(layout, target, { known: CAP, sent: CAP }), ...toolCallEdits(layout, target)];
  const { tools } = layout;
  const { removed, droppedTools } = target;
  if (!tools || !droppedTools || removed.has('tools')) return edits;
  return [...edits, ...toolEdits(tools, droppedTools)];
}

const TOOL_CALLS = 'max_tool_calls';

/** The cap of hosted calls, in its place or behind the model. Not where the provider takes no such member. */
function toolCallEdits({ members }: BodyLayout, { toolCallCap, removed }: UpstreamTarget): Edit[] {
  if (toolCallCap === undefined || removed.has(TOOL_CALLS)) return [];
  const own = members.get(TOOL_CALLS);
  if (own) return [{ start: own.valueStart, end: own.valueEnd, text: String(toolCallCap) }];
  const end = members.get('model')?.valueEnd;
  return end === undefined ? [] : [{ start: end, end, text: `,"${TOOL_CALLS}":${toolCallCap}` }];
}
