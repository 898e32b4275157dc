import { systemClock, withTimeout } from '@gatehouse/concurrency';
import { type OrganizationId, Secret } from '@gatehouse/contract';
import type { ProxyOf } from '@gatehouse/http/outgoing';
import { alertMetrics, type Metrics } from '@gatehouse/observability';
import { type Database, type KeyRing, openRecord } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { AlertSettings } from '../settings.ts';
import { channelProvider } from '../vault/index.ts';
import { alertMessage } from './alert-message.ts';
import { DeliveryError } from './delivery-error.ts';
import * as queries from './queries.ts';
import { createSendEmail, type SendEmail } from './send-email.ts';
import { sendWebhook, type WebhookOptions } from './send-webhook.ts';

/*
 * Deliveries wait in the database, and every node takes those that are due (`claimDue`). A claim ends by itself, so what a process had
 * begun when it was killed is sent again by any node: at least once, with the same id.
 *
 * Receivers are slow, gone or hostile. An attempt takes a connection of the database only to claim and to tell how it went. In each node
 * an organisation has few attempts at a time, and those of the others go on.
 */
const POLL_MS = 1_000;
/** While the database does not answer. */
const RETRY_MS = 10_000;
const MAX_ATTEMPTS_AT_ONCE = 64;
const MAX_ATTEMPTS_OF_ORGANIZATION = 4;
/** A webhook has 5 s. */
const MAX_ATTEMPT_MS = 10_000;
const LEASE_SECONDS = 15;
const FIRST_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 3_600;
const MAX_ERROR_LENGTH = 300;

export interface AlertSenderDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly settings: AlertSettings;
  /** The proxies to receivers; none unless given. */
  readonly proxyOf?: ProxyOf;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** The addresses of a name, for tests. */
  readonly addressesOf?: WebhookOptions['addressesOf'];
}

/** Sends the alerts that are due, from now on. Disposing claims no more and ends the attempts in flight, which are due again later. */
export function startAlertSender(dependencies: AlertSenderDependencies): AsyncDisposable {
  const sender = new AlertSender(dependencies);
  const running = sender.run();
  return {
    async [Symbol.asyncDispose]() {
      sender.stop();
      await running;
    },
  };
}

class AlertSender {
  readonly #dependencies: AlertSenderDependencies;
  readonly #attempts;
  readonly #sendEmail: SendEmail | undefined;
  readonly #stopping = new AbortController();
  readonly #inFlight = new Map<OrganizationId, number>();
  readonly #running = new Set<Promise<void>>();

  constructor(dependencies: AlertSenderDependencies) {
    this.#dependencies = dependencies;
    this.#attempts = dependencies.metrics.counter(alertMetrics.attempts);
    const { smtp } = dependencies.settings;
    this.#sendEmail = smtp && createSendEmail(smtp);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const claimed = await this.#claim();
      for (const due of claimed ?? []) this.#begin(due);
      if (claimed === undefined) await systemClock.sleep(RETRY_MS, signal);
      else if (claimed.length === 0) await systemClock.sleep(POLL_MS, signal);
    }
    await Promise.all(this.#running);
  }

  /** Undefined where the database did not answer. */
  async #claim(): Promise<readonly queries.DueRow[] | undefined> {
    const most = MAX_ATTEMPTS_AT_ONCE - this.#running.size;
    if (most === 0) return [];
    const { database, log } = this.#dependencies;
    try {
      return await database.many(queries.claimDue, {
        most,
        mostOfOrganization: MAX_ATTEMPTS_OF_ORGANIZATION,
        busyOrganizationIds: [...this.#inFlight.keys()],
        leaseSeconds: LEASE_SECONDS,
      });
    } catch (error) {
      log.warn(
        { event: 'alerts.claim_failed', err: error },
        'alerts that are due could not be read; retrying',
      );
      return undefined;
    }
  }

  #begin(due: queries.DueRow): void {
    const { organizationId } = due;
    this.#inFlight.set(organizationId, (this.#inFlight.get(organizationId) ?? 0) + 1);
    const attempt = this.#deliver(due).finally(() => {
      this.#running.delete(attempt);
      const left = (this.#inFlight.get(organizationId) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(organizationId, left);
      else this.#inFlight.delete(organizationId);
    });
    this.#running.add(attempt);
  }

  async #deliver(due: queries.DueRow): Promise<void> {
    const { database, log } = this.#dependencies;
    const { organizationId, id: deliveryId, kind } = due;
    const names = { organization_id: organizationId, channel_id: due.channelId, delivery_id: deliveryId };
    try {
      const problem = await this.#attempt(due, names);
      // It is due again when its claim ends.
      if (this.#stopping.signal.aborted && problem !== undefined) return;
      if (problem === undefined) {
        await database.run(queries.markDelivered, { organizationId, deliveryId });
        this.#attempts.with(kind, 'delivered').add();
        return;
      }
      const retrySeconds = Math.min(FIRST_RETRY_SECONDS * 2 ** (due.attempts - 1), MAX_RETRY_SECONDS);
      const failure = { organizationId, deliveryId, retrySeconds, error: problem.slice(0, MAX_ERROR_LENGTH) };
      const marked = await database.one(queries.markAttemptFailed, failure);
      const hasEnded = marked?.status === 'failed';
      this.#attempts.with(kind, hasEnded ? 'given_up' : 'failed').add();
      if (hasEnded)
        log.warn(
          { event: 'alerts.given_up', ...names, reason: problem },
          'an alert was not delivered within a day',
        );
    } catch (error) {
      log.warn({ event: 'alerts.mark_failed', ...names, err: error }, 'an alert will be sent again');
    }
  }

  /** Makes one attempt. Returns what went wrong; undefined if the receiver has the message. */
  async #attempt(due: queries.DueRow, names: object): Promise<string | undefined> {
    try {
      const late = () => new DeliveryError(`no answer within ${MAX_ATTEMPT_MS / 1_000} s`);
      await withTimeout(this.#send(due), MAX_ATTEMPT_MS, late);
      return undefined;
    } catch (error) {
      if (error instanceof DeliveryError) {
        if (error.cause)
          this.#dependencies.log.warn(
            { event: 'alerts.email_failed', ...names, err: error.cause },
            error.message,
          );
        return error.message;
      }
      this.#dependencies.log.error(
        { event: 'alerts.attempt_failed', ...names, err: error },
        'an alert cannot be sent',
      );
      return 'the message could not be made; the operator finds the reason in the log';
    }
  }

  async #send(due: queries.DueRow): Promise<void> {
    const { body, subject, text } = alertMessage(due);
    const { id, destination } = due;
    if (due.kind === 'email') {
      if (!this.#sendEmail)
        throw new DeliveryError('this service sends no e-mail any more: SMTP_URL is not set');
      return this.#sendEmail({ id, to: destination, subject, text });
    }
    const secret = await this.#secretOf(due);
    const { settings, proxyOf, addressesOf } = this.#dependencies;
    return sendWebhook(
      destination,
      { id, body: JSON.stringify(body), secret },
      {
        listedHosts: settings.webhookHosts,
        signal: this.#stopping.signal,
        ...(proxyOf && { proxyOf }),
        ...(addressesOf && { addressesOf }),
      },
    );
  }

  async #secretOf({ organizationId, channelId, ...row }: queries.DueRow): Promise<Secret> {
    const { version, sealedKey, wrappedKey, masterKeyId } = row;
    if (version === null || !sealedKey || !wrappedKey || masterKeyId === null)
      throw new Error(`the webhook ${channelId} has no secret`);
    const masterKey = await this.#dependencies.keyRing.find(masterKeyId);
    if (!masterKey) throw new Error(`the master key ${masterKeyId} is not at hand`);
    const place = { organizationId, provider: channelProvider(channelId), version };
    return new Secret(openRecord(masterKey, { ...place, sealedKey, wrappedKey, masterKeyId }));
  }
}
