import { z } from 'zod';
import { codePoints } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_METADATA_NAME_LENGTH } from '../limits.ts';
import {
  analyticsErrors,
  appliedWindow,
  filters,
  groupLimit,
  requestFilters,
  statusCategoryError,
  windowParameters,
} from './analytics-filters.ts';
import { pkr } from './fields.ts';

/** What requests can be grouped by, besides one name of their metadata. */
export const BREAKDOWN_GROUPINGS = [
  'status',
  'error_code',
  'model',
  'key',
  'project',
  'environment',
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

const quantiles = (of: string) =>
  z
    .strictObject({ p50: z.number().nullable(), p95: z.number().nullable() })
    .meta({ description: `${of}, in ms, within 0.2 %: half of them, and 95 of 100, took no longer.` });

const figures = {
  requests: z.int(),
  errors: z.int().meta({
    description: 'Requests with an error_code. A caller that left early is not an error.',
  }),
  tokens: z.int().meta({ description: 'Of every kind.' }),
  cost_pkr: pkr('Exact.'),
  total_ms: quantiles('Time from the request to the end of its answer'),
  ttft_ms: quantiles('Time to the first token, of the streams that had one; null if none had'),
};

export const getBreakdown = endpoint({
  name: 'getBreakdown',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/breakdown',
  summary:
    'Requests, errors, tokens, cost and quantiles of time, by one property of the requests. The groups and other add up to total.',
  query: z.object({
    group_by: z
      .string()
      .default('model')
      .transform((value, context): BreakdownGrouping => {
        const grouping = groupingFromText(value);
        if (grouping) return grouping;
        context.addIssue({
          code: 'custom',
          message: `Must be one of ${ACCEPTED}.`,
          params: { type: 'not_in_list' },
        });
        return z.NEVER;
      })
      .meta({ description: `One of ${ACCEPTED}.`, example: 'metadata:session-id' }),
    limit: groupLimit(20),
    ...windowParameters,
    ...filters,
    model_alias: z.string().optional(),
    ...requestFilters,
  }),
  reply: z.strictObject({
    ...appliedWindow,
    group_by: z.string(),
    total: z.strictObject(figures).meta({ description: 'Everything that passes the filters.' }),
    groups: z
      .array(
        z.strictObject({
          group: z.string().nullable().meta({
            description:
              'The value, or the id of the key or project. Null for requests that have none: no error, no known key, no metadata under that name.',
          }),
          name: z.string().nullable().meta({
            description:
              'The current name of the key or project; null if it has none. Else the same as group.',
          }),
          ...figures,
        }),
      )
      .meta({ description: 'The one with the most requests first.' }),
    other: z
      .strictObject({ groups: z.int().meta({ description: 'How many.' }), ...figures })
      .nullable()
      .meta({ description: 'The groups beyond limit, together; null if there are none.' }),
  }),
  errors: [
    statusCategoryError,
    { status: 400, body: 'error', when: 'group_by is environment and too many keys made requests' },
    ...analyticsErrors,
  ],
});
