import { z } from 'zod';
import { codePoints } from '../conventions/text.ts';
import { MAX_METADATA_NAME_LENGTH } from '../limits.ts';

/** The groupings of requests, besides one name of their metadata. */
export const BREAKDOWN_GROUPINGS = [
  'status',
  'error_code',
  'model',
  'key',
  'project',
  'environment',
  'member',
  'termination_reason',
] as const;

type Property = (typeof BREAKDOWN_GROUPINGS)[number];

const METADATA = 'metadata:';

/** A property of requests, or the values of their metadata under one name, in lower case as the gateway stores it. */
export type BreakdownGrouping =
  | { [By in Property]: { readonly by: By } }[Property]
  | { readonly by: 'metadata'; readonly name: string };

function groupingFromText(text: string): BreakdownGrouping | undefined {
  const by = BREAKDOWN_GROUPINGS.find((known) => known === text);
  if (by) return { by } as BreakdownGrouping;
  const name = text.startsWith(METADATA) ? text.slice(METADATA.length).toLowerCase() : '';
  return name !== '' && codePoints(name) <= MAX_METADATA_NAME_LENGTH ? { by: 'metadata', name } : undefined;
}

/** The text of a grouping, as a request names it. */
export function textOfGrouping(grouping: BreakdownGrouping): string {
  return grouping.by === 'metadata' ? METADATA + grouping.name : grouping.by;
}

const ACCEPTED = `${BREAKDOWN_GROUPINGS.join(', ')}, or ${METADATA}NAME with a name of up to ${MAX_METADATA_NAME_LENGTH} characters`;

export const GROUPINGS_IN_WORDS = `One of ${ACCEPTED}.`;

/** The transformation of a parameter that names a grouping. */
export function toGrouping(value: string, context: z.RefinementCtx): BreakdownGrouping {
  const grouping = groupingFromText(value);
  if (grouping) return grouping;
  context.addIssue({
    code: 'custom',
    message: `Must be one of ${ACCEPTED}.`,
    params: { type: 'not_in_list' },
  });
  return z.NEVER;
}
