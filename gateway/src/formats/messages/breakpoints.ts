import type { Conversation, Turn } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';

/** Anthropic refuses a request with more. */
const MAX_BREAKPOINTS = 4;

/**
 * The conversation with as many cache breakpoints as Anthropic takes. Those of the earliest turns go first: a later one covers what stands
 * before it.
 */
export function withFewBreakpoints(conversation: Conversation, losses: Losses): Conversation {
  const { cacheControl, tools, instructions, turns } = conversation;
  const items = [...partsOf(turns), ...partsOf(instructions), ...tools];
  const marked = items.filter((item) => 'cacheControl' in item);
  const surplus = marked.length + (cacheControl ? 1 : 0) - MAX_BREAKPOINTS;
  if (surplus <= 0) return conversation;
  losses.lose('cacheControl');
  const unmarked = new Set<object>(marked.slice(0, surplus));
  const written = <Item extends object>(item: Item): Item => {
    const within = partsIn(item)?.map(written);
    const { cacheControl: _, ...rest } = item as Item & { readonly cacheControl?: unknown };
    const kept = unmarked.has(item) ? (rest as Item) : item;
    return within ? { ...kept, parts: within } : kept;
  };
  return {
    ...conversation,
    tools: tools.map(written),
    instructions: instructions.map(written),
    turns: turns.map(written),
  };
}

function partsOf(turns: readonly (Turn | Conversation['instructions'][number])[]): readonly object[] {
  return turns
    .flatMap((turn): readonly object[] => turn.parts)
    .flatMap((part) => [...(partsIn(part) ?? []), part]);
}

/** The parts of a turn, or of a tool's result. */
function partsIn(item: object): readonly object[] | undefined {
  return 'parts' in item && Array.isArray(item.parts) ? item.parts : undefined;
}
