import { type GatewayAddress, gatewayInWords } from './gateway-address.ts';

/** The answer of `/` to a program. A browser gets the dashboard where it is served. */
export function indexText(gateway: GatewayAddress, hasDashboard: boolean): string {
  return `This is the API of Gatehouse. Its endpoints are below /api of this address: sign in with POST /api/auth/login.
${hasDashboard ? 'The dashboard is at this address: open it in a browser.' : 'The dashboard is not served here (DASHBOARD is off).'}
Model requests go to ${gatewayInWords(gateway)}.

  POST /api/auth/register   an account, and its organisation
  POST /api/auth/login      a session
  GET  /api/service         the version, and where the gateway is
  GET  /api/openapi.json    the description of every endpoint
  GET  /reference           the same as a page, with examples
  GET  /healthz             whether the process is up
  GET  /readyz              whether it can serve
`;
}
