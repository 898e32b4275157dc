import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import { optionalText, requireList, requireObject, requireText } from '../translation/body-members.ts';
import { readCacheControl, withBreakpoint } from '../translation/cache-control.ts';
import type { Instruction, ResultPart, TextPart, Turn, UserPart } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { readAssistantParts } from './read-assistant.ts';
import { readUserParts } from './read-parts.ts';

/** The messages as instructions and turns. */
export function readMessages(
  value: unknown,
  losses: Losses,
): { readonly instructions: readonly Instruction[]; readonly turns: readonly Turn[] } {
  const instructions: Instruction[] = [];
  const turns: Turn[] = [];
  // What the tools answered belongs to one turn, with what the user says next.
  let results: UserPart[] | undefined;
  requireList(value, 'messages').forEach((item, index) => {
    const path = `messages[${index}]`;
    const message = requireObject(item, path);
    const role = requireText(message['role'], `${path}.role`);
    if (optionalText(message, 'name', `${path}.name`) !== undefined && role !== 'tool') {
      losses.lose('participantNames', `${path}.name`);
    }
    if (role === 'tool') {
      if (!results) {
        results = [];
        turns.push({ role: 'user', parts: results });
      }
      results.push(readResult(message, path, losses));
      return;
    }
    const open = results;
    results = undefined;
    switch (role) {
      case 'system':
      case 'developer': {
        const instruction = {
          role,
          parts: withBreakpoint(readTexts(message['content'], `${path}.content`, losses), message),
        } as const;
        if (turns.length === 0) instructions.push(instruction);
        else turns.push(instruction);
        return;
      }
      case 'user': {
        const parts = withBreakpoint(readUserParts(message['content'], `${path}.content`, losses), message);
        if (open) for (const part of parts) open.push(part);
        else turns.push({ role, parts });
        return;
      }
      case 'assistant':
        turns.push({ role, parts: withBreakpoint(readAssistantParts(message, path, losses), message) });
        return;
      case 'function':
        losses.lose('functionCall', `${path}.role`);
        return;
      default:
        throw new BodyError(
          `${path}.role must be system, developer, user, assistant or tool.`,
          `${path}.role`,
        );
    }
  });
  return { instructions, turns };
}

function readTexts(content: unknown, path: string, losses: Losses): readonly TextPart[] {
  return readUserParts(content, path, losses).map((part) => {
    if (part.type !== 'text') throw new BodyError(`${path} must be text.`, path);
    return part;
  });
}

function readResult(message: JsonObject, path: string, losses: Losses): UserPart {
  const parts: readonly ResultPart[] = readUserParts(message['content'], `${path}.content`, losses);
  return {
    type: 'toolResult',
    callId: requireText(message['tool_call_id'], `${path}.tool_call_id`),
    parts,
    ...readCacheControl(message),
  };
}
