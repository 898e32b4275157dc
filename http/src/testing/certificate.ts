import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Certificate } from '../tls.ts';
import { bitString, integer, octetString, oid, sequence, set, tagged, time, utf8String } from './der.ts';

export interface CertificateOptions {
  /** IPv4 addresses and host names. */
  readonly names?: readonly string[];
  readonly validFrom?: Date;
  readonly validTo?: Date;
  /** With an RSA key; else with one for ECDSA. */
  readonly isRsa?: boolean;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const RSA_WITH_SHA256 = sequence(oid('1.2.840.113549.1.1.11'), Buffer.of(0x05, 0x00));

/** A self-signed certificate for tests, with a key of its own, made without another program. */
export function createCertificate(
  options: CertificateOptions = {},
): Certificate & { readonly privateKey: KeyObject } {
  const { names = ['localhost', '127.0.0.1'] } = options;
  const { validFrom = new Date(Date.now() - DAY_MS), validTo = new Date(Date.now() + 90 * DAY_MS) } = options;
  const { isRsa = false } = options;
  const { publicKey, privateKey } = isRsa
    ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = isRsa ? RSA_WITH_SHA256 : ECDSA_WITH_SHA256;
  const alternatives = names.map((one) =>
    isIPv4(one) ? tagged(0x87, Buffer.from(one.split('.').map(Number))) : tagged(0x82, Buffer.from(one)),
  );
  const extensions = [
    // Its own authority, so that a client can be given it as one.
    sequence(oid('2.5.29.19'), octetString(sequence(tagged(0x01, Buffer.of(0xff))))),
    sequence(oid('2.5.29.17'), octetString(sequence(...alternatives))),
  ];
  const serial = randomBytes(12);
  // Positive, and without a leading zero.
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  // A subject of its own: authorities are looked up by it.
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8String(serial.toString('hex')))));
  const content = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    name,
    sequence(time(validFrom), time(validTo)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(content, algorithm, bitString(sign('sha256', content, privateKey)));
  return {
    cert: pem('CERTIFICATE', certificate),
    key: Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    privateKey,
  };
}

function pem(label: string, der: Buffer): Buffer {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return Buffer.from([`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n'));
}
