import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import {
  analyticsErrors,
  appliedWindow,
  filters,
  groupLimit,
  requestFilters,
  statusCategoryError,
  tooManyKeysError,
  windowParameters,
} from './analytics-filters.ts';
import { GROUPINGS_IN_WORDS, toGrouping } from './analytics-groupings.ts';
import { groupedFigures } from './analytics-groups.ts';
import { pkr } from './fields.ts';

const quantiles = (of: string) =>
  z
    .strictObject({ p50: z.number().nullable(), p95: z.number().nullable() })
    .meta({ description: `${of}, in ms, within 0.2 %: half of them, and 95 of 100, took no longer.` });

const figures = {
  requests: z.int(),
  errors: z.int().meta({
    description: 'Requests with an error_code. A caller that left early is not an error.',
  }),
  tokens: z.int().meta({ description: 'Tokens of every kind.' }),
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
      .transform(toGrouping)
      .meta({ description: GROUPINGS_IN_WORDS, example: 'metadata:session-id' }),
    limit: groupLimit(20),
    ...windowParameters,
    ...filters,
    model_alias: z.string().optional(),
    ...requestFilters,
  }),
  reply: z.strictObject({
    ...appliedWindow,
    group_by: z.string(),
    ...groupedFigures(figures),
  }),
  errors: [statusCategoryError, tooManyKeysError('environment or member'), ...analyticsErrors],
});
