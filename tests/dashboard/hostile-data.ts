import { keys, organization } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import type { DashboardService } from './dashboard-service.ts';
import { HOSTILE_STRINGS, LONG } from './hostile-strings.ts';

/**
 * Puts hostile strings wherever the dashboard shows a text of someone else: names, addresses, models, providers,
 * metadata, errors, entries of the activity log.
 */
export async function addHostileData(service: DashboardService): Promise<void> {
  const { api } = service;
  const { id: organizationId } = service.organization;
  const client = await service.signIn();
  const { projects } = await client.call(organization.listProjects);
  const made: { id: string; projectId: string }[] = [];
  for (const [index, name] of HOSTILE_STRINGS.entries()) {
    const projectId = projects[index % projects.length]?.id ?? '';
    const key = await client.call(keys.createKey, { body: { project_id: projectId, name } });
    made.push({ id: key.id, projectId });
  }
  // The API refuses some of these names, and an older database may have them all the same.
  const [first = '', second = '', third = ''] = HOSTILE_STRINGS;
  await runSql(
    api.owner,
  )`UPDATE organizations SET name = ${`${second} ${LONG.slice(0, 300)}`} WHERE id = ${organizationId}`;
  for (const [index, { id }] of projects.entries())
    await runSql(api.owner)`UPDATE projects SET name = ${HOSTILE_STRINGS[index] ?? ''} WHERE id = ${id}`;
  await runSql(api.owner)`UPDATE users SET email = ${`${first}@x.example`} WHERE email LIKE 'ayesha@%'`;
  await runSql(api.owner)`UPDATE users SET email = ${LONG} WHERE email LIKE 'bilal@%'`;
  await runSql(api.owner)`UPDATE routes SET id = ${third} WHERE id = 'demo/echo'`.catch(() => undefined);
  await service.add(
    [...HOSTILE_STRINGS, LONG].map((text, index): Partial<RequestLogRow> => {
      const key = made[index % made.length];
      return {
        ...(key && { keyId: key.id, projectId: key.projectId }),
        model: text,
        status: index % 3 === 0 ? 200 : index % 3 === 1 ? 429 : 502,
        refusal: index % 3 === 0 ? '' : text,
        costMicroPkr: 900_000_000n + BigInt(index),
        upstreamError: text,
        upstreamModel: text,
        userAgent: text,
        terminationReason: index % 3 === 0 ? 'success' : 'upstream_stream_aborted',
        metadata: new Map([
          [text.slice(0, 60), text],
          ['session', text],
        ]),
        attempts: [0, 1].map((place) => ({
          provider: text,
          upstreamModel: text,
          credential: text,
          isByok: place === 1,
          status: place === 0 ? 503 : 200,
          startedMs: place * 300,
          totalMs: 250,
          ttftMs: null,
          promptTokens: 1,
          tokensGenerated: 1,
          costMicroPkr: 1n,
          ending: place === 0 ? 'error_status' : 'served',
          error: text,
        })),
      };
    }),
  );
}
