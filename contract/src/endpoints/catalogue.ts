import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { GATEWAY_ENDPOINTS } from '../provider-flags.ts';

const price = () => z.number().min(0).meta({ description: 'PKR per million tokens.' });

const tokenPrices = {
  input: price(),
  output: price(),
  cache_write: price(),
  cache_read: price(),
  cache_write_1h: price().meta({ description: 'PKR per million tokens that are cached for an hour.' }),
};

export const listRoutes = endpoint({
  name: 'listRoutes',
  section: 'catalogue',
  method: 'GET',
  path: '/routes',
  summary: 'The route ids that a request can name as its model, with their prices.',
  reply: z.strictObject({
    routes: z.array(
      z
        .strictObject({
          id: z.string(),
          aliases: z
            .array(z.string())
            .meta({ description: 'Other names of the route. The allowed_models of a key take its id only.' }),
          provider: z.string(),
          byok_providers: z.array(z.string()).meta({
            description:
              'The providers that it leads to and that take a key of the organisation (POST /vault/keys). With such a key, requests use the account of the organisation and cost the fee.',
          }),
          active: z.boolean(),
          endpoints: z.array(z.enum(GATEWAY_ENDPOINTS)),
          price_pkr_per_million: z.strictObject({
            ...tokenPrices,
            tiers: z.array(z.strictObject({ above_prompt_tokens: z.number(), ...tokenPrices })).meta({
              description:
                'The prices of longer prompts, ascending. The last tier that the prompt exceeds applies.',
            }),
          }),
          price_pkr_per_call: z
            .record(z.string(), z.number().min(0))
            .meta({ description: 'PKR per call of a hosted tool, by name, such as web_search.' }),
        })
        .meta({ id: 'Route' }),
    ),
  }),
});
