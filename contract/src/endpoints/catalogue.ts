import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { GATEWAY_ENDPOINTS } from '../provider-flags.ts';

const price = () => z.number().min(0).meta({ description: 'PKR per million tokens.' });

export const listRoutes = endpoint({
  name: 'listRoutes',
  section: 'catalogue',
  method: 'GET',
  path: '/routes',
  summary: 'The route ids that a request can name as its model, with their prices.',
  reply: z.strictObject({
    routes: z.array(
      z.strictObject({
        id: z.string(),
        provider: z.string(),
        active: z.boolean(),
        endpoints: z.array(z.enum(GATEWAY_ENDPOINTS)),
        price_pkr_per_million: z.strictObject({
          input: price(),
          output: price(),
          cache_write: price(),
          cache_read: price(),
        }),
      }),
    ),
  }),
});
