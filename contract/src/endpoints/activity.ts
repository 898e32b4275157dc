import { z } from 'zod';
import { limit, offset } from '../conventions/paging.ts';
import { text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { ACTIVITY_ACTIONS } from '../events.ts';
import { instant, timestamp } from './fields.ts';

export const listActivity = endpoint({
  name: 'listActivity',
  section: 'activity',
  method: 'GET',
  path: '/activity',
  summary: 'The activity log: what was changed in the organisation and by whom, newest first.',
  query: z.object({
    limit: limit(),
    offset: offset(),
    until: z
      .string()
      // In a query an unescaped plus is a space.
      .transform((value) => value.replace(/ (?=\d\d:\d\d$)/, '+'))
      .pipe(instant())
      .optional()
      .meta({
        type: 'string',
        format: 'date-time',
        description:
          'Only events up to this time. Pass the timestamp of the first event of the first page to keep later pages stable while the log grows.',
        example: '2026-11-20T10:15:30.123456+00:00',
      }),
    action: z
      .enum(ACTIVITY_ACTIONS)
      .optional()
      .meta({ description: 'Only events of this kind.', example: 'api_key.revoked' }),
    actor: text()
      .transform((value) => value.trim().toLowerCase())
      .optional()
      .meta({ description: 'Only what the account with this email did; case-insensitive.' }),
  }),
  reply: z.strictObject({
    events: z.array(
      z
        .strictObject({
          actor: z.string().nullable(),
          action: z.enum(ACTIVITY_ACTIONS),
          target: z.string(),
          timestamp: timestamp(),
          source_ip: z.string(),
        })
        .meta({ id: 'ActivityEvent' }),
    ),
    limit: z.int(),
    offset: z.int(),
  }),
});
