import type { MemberSpan } from '../wire/scan-json.ts';
import { type Edit, editsWithout, type Span } from '../wire/splice.ts';
import type { ParsedBody } from './parse-body.ts';

// What of a caller's body is changed on its way to a provider: the model, the output cap under the names that the
// provider knows, for a stream the request for its usage, and members that the provider must not see. Every other byte goes
// on as it came, numbers beyond a double's digits included. What is added stands beside the model, the one member that
// every body has.

/** The places of the members of a body, and the format's own edits. Plain data: a large body is read in another thread. */
export interface BodyLayout {
  /** The top-level members in their order. */
  readonly members: ReadonlyMap<string, MemberSpan>;
  /** The edits that make a stream report its usage; none when it already does, or for no stream. */
  readonly usageEdits: readonly Edit[];
  /** The format's edits for every provider. */
  readonly ownEdits?: readonly Edit[];
  /** The places of tools that may be left out, and their neighbours, whose type is left empty; undefined for none. */
  readonly tools?: readonly ToolPlace[];
}

export interface ToolPlace extends Span {
  readonly type: string;
}

/** How a body becomes the provider's. */
export interface UpstreamTarget {
  readonly upstreamModel: string;
  /** Output tokens at most; undefined where nothing is generated. */
  readonly outputCap: number | undefined;
  /** The member, or members, under which the provider reads the output cap of a chat completion. */
  readonly outputLimit: 'max_tokens' | 'max_completion_tokens' | 'both';
  /** Calls of hosted tools at most, in the Responses API; undefined where that is the caller's own matter. */
  readonly toolCallCap?: number | undefined;
  /** True if a stream's usage is asked for: not where it comes anyway, or where the request for it is refused. */
  readonly asksForUsage: boolean;
  /** Members that go. The output caps and the model are not among them, whatever is listed. */
  readonly removed: ReadonlySet<string>;
  /** The types of tools that are left out, among those that may be. */
  readonly droppedTools?: ReadonlySet<string>;
  /** Members of every request to the provider, in place of the caller's. */
  readonly added?: Readonly<Record<string, unknown>> | null;
  /** True if the address has the model: what is added then takes its place. */
  readonly isModelInPath?: boolean;
}

/** The names of output caps in a format: all that callers use, and those that this provider is sent. */
interface CapNames {
  readonly known: readonly string[];
  readonly sent: readonly string[];
}

export function layoutOf({ spans }: ParsedBody, usageEdits: readonly Edit[] = []): BodyLayout {
  return { members: spans, usageEdits };
}

/** The edits that make a caller's body the provider's; they do not overlap. */
export function bodyEdits(
  layout: BodyLayout,
  target: UpstreamTarget,
  { known, sent }: CapNames = { known: [], sent: [] },
): Edit[] {
  const { members } = layout;
  const model = members.get('model');
  if (!model) throw new Error('a body without a model');
  const edits: Edit[] = [];
  const removed = new Set(target.removed);
  removed.delete('model');
  for (const name of known) removed.delete(name);
  const own = target.added ? Object.entries(target.added).filter(([name]) => !known.includes(name)) : [];
  for (const [name] of own) removed.add(name);

  let added = own.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join('');
  if (target.outputCap !== undefined) {
    const missing = sent.filter((name) => !members.has(name));
    for (const [name, { keyStart, valueStart, valueEnd }] of members) {
      if (!known.includes(name)) continue;
      const cap = String(target.outputCap);
      const written = sent.includes(name) ? name : missing.shift();
      if (written === name) edits.push({ start: valueStart, end: valueEnd, text: cap });
      else if (written === undefined) removed.add(name);
      else edits.push({ start: keyStart, end: valueEnd, text: `"${written}":${cap}` });
    }
    added += missing.map((name) => `,"${name}":${target.outputCap}`).join('');
  }
  if (target.isModelInPath && own.length > 0)
    edits.push({ start: model.keyStart, end: model.valueEnd, text: added.slice(1) });
  else
    edits.push({
      start: model.valueStart,
      end: model.valueEnd,
      text: JSON.stringify(target.upstreamModel) + added,
    });

  const names = [...members.keys()];
  const places = Array.from(members.values(), ({ keyStart, valueEnd }) => ({
    start: keyStart,
    end: valueEnd,
  }));
  const removals = editsWithout(places, (index) => removed.has(names[index] ?? ''));
  const isGone = ({ start, end }: Edit) => removals.some((gone) => gone.start < end && start < gone.end);
  if (target.asksForUsage && !removed.has('stream_options')) {
    edits.push(...layout.usageEdits.filter((edit) => !isGone(edit)));
  }
  return [...edits, ...removals];
}
