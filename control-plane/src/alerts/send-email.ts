import type { Transporter } from 'nodemailer';
import type { SmtpSettings } from '../settings.ts';
import { DeliveryError } from './delivery-error.ts';

// A mail server that answers slower is tried again later.
const TIMEOUT_MS = 5_000;

export interface Email {
  /** The same in each attempt. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends one mail, and resolves when the mail server has taken it. @throws DeliveryError for everything else */
export type SendEmail = (email: Email) => Promise<void>;

/** The mail server of these settings. The library is loaded with the first mail. */
export function createSendEmail({ url, from }: SmtpSettings): SendEmail {
  let transporter: Promise<Transporter> | undefined;
  const [, domain] = from.split('@');
  return async ({ id, to, subject, text }) => {
    transporter ??= openTransporter(url);
    try {
      await (await transporter).sendMail({
        messageId: `<${id}@${domain}>`,
        from: { name: 'Gatehouse', address: from },
        to: { name: '', address: to },
        subject,
        text,
      });
    } catch (error) {
      const { code, responseCode } = error as { readonly code?: string; readonly responseCode?: number };
      throw new DeliveryError(
        responseCode === undefined
          ? `the mail server cannot be reached (${code ?? 'unknown'})`
          : `the mail server refused the message with ${responseCode}`,
        { cause: error },
      );
    }
  };
}

async function openTransporter(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
