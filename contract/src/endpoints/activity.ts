import { z } from 'zod';
import { limit, offset } from '../conventions/paging.ts';
import { endpoint } from '../endpoint.ts';
import { ACTIVITY_ACTIONS } from '../events.ts';
import { timestamp } from './fields.ts';

export const listActivity = endpoint({
  name: 'listActivity',
  section: 'activity',
  method: 'GET',
  path: '/activity',
  summary: 'What was changed in the organisation and by whom, newest first.',
  query: z.object({ limit: limit(), offset: offset() }),
  reply: z.strictObject({
    events: z.array(
      z.strictObject({
        actor: z.string().nullable(),
        action: z.enum(ACTIVITY_ACTIONS),
        target: z.string(),
        timestamp: timestamp(),
        source_ip: z.string(),
      }),
    ),
    limit: z.int(),
    offset: z.int(),
  }),
});
