// Whether the listeners of this container answer: exit code 0 or 1. The image has neither curl nor wget. A role has one listener, so
// a port where nothing listens counts only if the other has no listener either.
import { request } from 'node:http';
import { request as requestTls } from 'node:https';

const TIMEOUT_MS = 2_500;
// An empty variable counts as unset.
const setting = (name) => process.env[name]?.trim();
const isTls = Boolean(setting('TLS_CERT'));

function statusOf(port) {
  return new Promise((resolve) => {
    const send = isTls ? requestTls : request;
    // The certificate is for the name that clients use, not for this address.
    const options = {
      host: '127.0.0.1',
      port,
      path: '/healthz',
      timeout: TIMEOUT_MS,
      rejectUnauthorized: false,
    };
    const asked = send(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', (error) => resolve(error.code === 'ECONNREFUSED' ? undefined : 0));
    asked.end();
  });
}

const ports = [setting('PORT') || '8080', setting('GATEWAY_PORT') || '8081'];
const found = (await Promise.all(ports.map(statusOf))).filter((status) => status !== undefined);
process.exit(found.length > 0 && found.every((status) => status === 200) ? 0 : 1);
