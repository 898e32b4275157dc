import type { Instruction, Turn } from './conversation.ts';

/**
 * The turns with the results of tools right after the calls. Coding agents put instructions between the two, and both
 * chat and messages providers refuse anything there: such instructions follow the results.
 */
export function resultsFirst(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = [];
  let held: Instruction[] = [];
  let isAwaited = false;
  for (const turn of turns) {
    if (isAwaited && (turn.role === 'system' || turn.role === 'developer')) {
      held.push(turn);
      continue;
    }
    const answers =
      isAwaited && turn.role === 'user' && turn.parts.some((part) => part.type === 'toolResult');
    if (answers) ordered.push(turn);
    for (const instruction of held) ordered.push(instruction);
    if (!answers) ordered.push(turn);
    held = [];
    isAwaited = turn.role === 'assistant' && turn.parts.some((part) => part.type === 'toolCall');
  }
  return [...ordered, ...held];
}
