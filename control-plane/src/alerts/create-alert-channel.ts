import { randomBytes, randomUUID } from 'node:crypto';
import {
  type AlertChannelId,
  alerts,
  badRequest,
  conflict,
  MAX_ALERT_CHANNELS,
  Secret,
} from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AlertSettings } from '../settings.ts';
import {
  channelProvider,
  countWrap,
  loadCurrentKey,
  sealSecret,
  type VaultDependencies,
} from '../vault/index.ts';
import { channelFields, channelInWords } from './channel-fields.ts';
import * as queries from './queries.ts';
import { webhookIssue } from './webhook-address.ts';

// Standard Webhooks asks for 24 to 64 bytes.
const SECRET_BYTES = 32;

export function createAlertChannel(dependencies: VaultDependencies, settings: AlertSettings) {
  const { database } = dependencies;
  return withSession(alerts.createAlertChannel, async ({ body, record, requestId }, session) => {
    const { organizationId, userId } = session;
    const { kind, url = '', address = '' } = body;
    const issue = kind === 'webhook' ? webhookIssue(url, settings.webhookHosts) : emailIssue(settings);
    if (issue !== undefined) throw badRequest(issue);
    const secret =
      kind === 'webhook' ? new Secret(`whsec_${randomBytes(SECRET_BYTES).toString('base64')}`) : undefined;
    const sealing = { ...dependencies, requestId };
    if (secret) await loadCurrentKey(sealing);

    const channelId = randomUUID() as string as AlertChannelId;
    const row = await database.transaction(async (tx) => {
      await tx.run(queries.lockBalance, { organizationId });
      const counted = await tx.one(queries.countChannels, { organizationId });
      if ((counted?.channels ?? 0n) >= MAX_ALERT_CHANNELS)
        throw conflict(
          `An organisation can have ${MAX_ALERT_CHANNELS} channels, and this one has as many. Delete one that is no longer used, then add this one.`,
        );
      const place = { organizationId, provider: channelProvider(channelId) };
      const sealed = secret && (await sealSecret(tx, sealing, place, secret));
      await tx.run(queries.insertChannel, {
        organizationId,
        channelId,
        kind,
        destination: kind === 'webhook' ? new URL(url).href : address,
        version: sealed?.version ?? null,
        sealedKey: sealed?.sealedKey ?? null,
        wrappedKey: sealed?.wrappedKey ?? null,
        masterKeyId: sealed?.masterKeyId ?? null,
        createdBy: userId,
      });
      if (sealed) await countWrap(tx, sealing, { organizationId, masterKeyId: sealed.masterKeyId });
      const created = await tx.one(queries.listChannels, { organizationId, channelId });
      if (!created) throw new Error('an inserted channel is not there');
      await record(tx, 'alert_channel.created', channelInWords(created));
      return created;
    });
    return { body: { ...channelFields(row), ...(secret && { secret: secret.reveal() }) } };
  });
}

function emailIssue({ smtp }: AlertSettings): string | undefined {
  return smtp
    ? undefined
    : 'This service sends no e-mail: its operator has set no SMTP_URL. A channel of the kind webhook works.';
}
