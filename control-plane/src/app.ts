import type { Database } from '@gatehouse/store';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { listActivity } from './activity/index.ts';
import { authEndpoints, findSession } from './auth/index.ts';
import type { Implementation } from './http/implement.ts';
import { createServer } from './http/server.ts';
import { listMembers, listProjects } from './organization/index.ts';
import type { ControlPlaneSettings } from './settings.ts';

export interface ControlPlaneParts {
  readonly database: Database;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
}

/** Every endpoint of the contract with the code that answers it. */
export function implementations({ database, settings }: ControlPlaneParts): Implementation[] {
  return [
    ...authEndpoints(database, settings),
    listMembers(database),
    listProjects(database),
    listActivity(database),
  ];
}

/** The control plane's HTTP server, ready to listen. */
export function createControlPlane(parts: ControlPlaneParts): FastifyInstance {
  return createServer({
    implementations: implementations(parts),
    findSession: (accessToken) => findSession(parts.database, accessToken),
    missing: async () => [],
    log: parts.log,
    settings: parts.settings,
  });
}
