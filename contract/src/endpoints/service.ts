import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const getService = endpoint({
  name: 'getService',
  section: 'service',
  method: 'GET',
  path: '/service',
  access: 'public',
  summary: 'The facts that a client needs before it signs in. May be cached for a minute.',
  reply: z.strictObject({
    version: z.string().meta({ description: 'The version of the API.', example: '0.1.0' }),
    gateway_url: z.string().nullable().meta({
      description:
        'The address where clients reach the gateway, without a slash at the end and without /v1. Null if the service cannot know it, because it listens on every address; then use the host name of the API and gateway_port.',
      example: 'https://llm.example.com',
    }),
    gateway_port: z.int().nullable().meta({
      description: 'The port that the gateway listens on; null while it is unknown.',
      example: 8081,
    }),
    google: z
      .strictObject({
        client_id: z.string(),
        authorization_endpoint: z.string().nullable().meta({
          description:
            'The address where a browser is sent to sign in. Null while the issuer cannot be reached; try again later.',
          example: 'https://accounts.google.com/o/oauth2/v2/auth',
        }),
      })
      .nullable()
      .meta({ description: 'Null where Google sign-in is not configured.' }),
    oidc: z
      .strictObject({
        label: z.string().meta({ description: 'The text of the button.', example: 'Continue with Acme' }),
      })
      .nullable()
      .meta({
        description:
          'Null where there is no OpenID issuer. Otherwise a browser signs in at `GET /auth/oidc`.',
      }),
    password_sign_in: z.literal(false).optional().meta({
      description: 'Only where accounts are neither registered nor signed in with a password here.',
    }),
  }),
});
