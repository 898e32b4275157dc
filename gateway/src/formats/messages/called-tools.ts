import type { JsonObject } from '../../wire/json.ts';
import type { Conversation } from '../translation/conversation.ts';
import type { ToolNames } from '../translation/tool-names.ts';

/**
 * Anthropic takes calls of tools in a conversation only where tools are declared. Codex declares none when it asks for a
 * summary of a long session: those that were called are declared then, and none of them may be called.
 */
export function writeCalledTools({ turns }: Conversation, names: ToolNames): JsonObject {
  const called = new Set(
    turns.flatMap((turn) =>
      turn.role === 'assistant'
        ? turn.parts.flatMap((part) => (part.type === 'toolCall' ? names.sent(part.name) : []))
        : [],
    ),
  );
  if (called.size === 0) return {};
  const tools = Array.from(called, (name) => ({ name, input_schema: { type: 'object' } }));
  return { tools, tool_choice: { type: 'none' } };
}
