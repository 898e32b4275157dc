import { parentPort, workerData } from 'node:worker_threads';
import { timedRequest } from './timed-request.ts';

// Waves of concurrent sign-ins, from a thread of their own, so that sending them does not delay the measurement.

const { port, emails, password, waves, atOnce } = workerData as {
  readonly port: number;
  readonly emails: readonly string[];
  readonly password: string;
  readonly waves: number;
  readonly atOnce: number;
};

const statuses = new Map<number, number>();
for (let wave = 0; wave < waves; wave += 1) {
  const answers = await Promise.all(
    Array.from({ length: atOnce }, (_, n) =>
      timedRequest(port, 'POST', '/api/auth/login', {
        body: JSON.stringify({ email: emails[n % emails.length], password }),
        headers: { 'content-type': 'application/json' },
      }),
    ),
  );
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
}
parentPort?.postMessage(statuses);
