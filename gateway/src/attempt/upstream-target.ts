import type { ProviderFlags } from '@gatehouse/contract';
import type { Provider } from '../catalogue/route.ts';
import type { UpstreamTarget } from '../formats/body-layout.ts';
import type { Call } from '../formats/call.ts';
import type { Format } from '../formats/format.ts';

// Always sent, whatever a provider's flags say: credit is held for them.
const ALWAYS_SENT: ReadonlySet<string> = new Set([
  ...['model', 'max_tokens', 'max_completion_tokens', 'max_output_tokens'],
]);

/** The members that the provider's flags remove from a body. */
export interface Removals extends Pick<UpstreamTarget, 'removed' | 'asksForUsage'> {
  /** The caller's members that are not sent, to be disclosed. */
  readonly dropped: readonly string[];
  /** True if members that the gateway adds by itself are refused. */
  readonly isStrict: boolean;
}

export function removalsFor(
  { drop, strictFields, streamUsage }: ProviderFlags,
  { members: { common } }: Pick<Format, 'members'>,
  { members }: Pick<Call, 'members'>,
): Removals {
  const strict = strictFields ? [...members.keys()].filter((name) => !common.has(name)) : [];
  // The provider refuses the member. Without it nothing is lost: usage is reported or not, as before.
  const unasked = streamUsage === 'never' ? ['stream_options'] : [];
  const removed = new Set([...drop, ...strict, ...unasked].filter((name) => !ALWAYS_SENT.has(name)));
  return {
    removed,
    // Otherwise the gateway would add the member that the flags remove.
    asksForUsage:
      streamUsage === 'ask' &&
      !removed.has('stream_options') &&
      !(strictFields && !common.has('stream_options')),
    dropped: [...removed].filter((name) => members.has(name)),
    isStrict: strictFields,
  };
}

/** How the body becomes the provider's. */
export function targetFor(
  { upstreamModel, provider }: { readonly upstreamModel: string; readonly provider: Provider },
  outputCap: number | undefined,
  { removed, asksForUsage, isStrict }: Removals,
  droppedTools: ReadonlySet<string>,
  toolCalls: number | undefined,
  isModelInPath: boolean,
): UpstreamTarget {
  const { outputLimit, flags } = provider;
  const toolCallCap = isStrict ? undefined : toolCalls;
  const { add: added } = flags;
  const members = { asksForUsage, removed, droppedTools, added, isModelInPath };
  return { upstreamModel, outputCap, outputLimit, toolCallCap, ...members };
}
