import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type AttackEnvironment, openAttackEnvironment, signIn } from './attack-environment.ts';
import { ATTACKS, type AttackName } from './attack-kinds.ts';
import { type Peaks, runningParts, watchPeaks } from './attack-memory.ts';
import { createVictim, type Felt, nothingFelt, type Victim } from './attack-victim.ts';
import { type Attackers, startAttackers } from './attackers.ts';

// The short form of drills/attacks.ts: every attack once, on a service whose processes have a heap of 512 MB each.

/** The minimum number of requests of the neighbour to the API and to the gateway. */
const REQUESTS = 20;
const SIGN_INS = 3;

/** For each attack: the answers that it is about, and the number of them after which it ends. `closed` is an ended connection. */
const EXPECTED: Readonly<Record<AttackName, readonly [count: number, answers: RegExp]>> = {
  'busy machine, no attack': [0, /^$/],
  'bodies of empty objects': [4, /^413$/],
  'idle uploads': [8, /^(408|503)$/],
  'large bodies beyond the rate': [8, /^(200|429|closed)$/],
  'pipelining to the API': [150, /^(200|503)$/],
  'pipelining to the gateway': [150, /^(200|429|503)$/],
  // 24 are open at the same time. Those that have no room in the memory of their organisation are answered 503 after half a minute:
  // gateway/src/endpoints/slow-readers.http.test.ts.
  'slow readers of large answers': [16, /^200$/],
  'lists that nobody reads': [100, /^mint (201|409)$/],
  'refused requests with labels': [500, /^(200|429)$/],
  'wrong passwords': [40, /^(401|503)$/],
  'text that is expensive to count': [12, /^404$/],
  'odd answers of a provider': [20, /^(bytes|hints|large) 200$|^(large) 503$|^(nested|status) 502$/],
  'answers that expand': [80, /^(200|400)$/],
};

/**
 * The answer to any request that comes late, too often, or while much else is in progress. It depends on the machine, so it does not count.
 */
const BUSY = /^(\w+ )?(408|429|503|closed)$/;

describe('under attack', () => {
  const stack = new AsyncDisposableStack();
  let environment: AttackEnvironment;
  let attackers: Attackers;
  let victim: Victim;
  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-attacks-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    attackers = stack.use(await startAttackers({ isLowPriority: false }));
    environment = stack.use(
      await openAttackEnvironment({ directory, evilBaseUrl: attackers.baseUrl, accounts: SIGN_INS }),
    );
    victim = stack.use(createVictim(environment));
  });
  after(() => stack.disposeAsync());

  for (const name of Object.keys(ATTACKS) as AttackName[]) {
    const [count, expected] = EXPECTED[name];
    if (count === 0) continue;
    it(`${name}: every process survives, and a neighbour is served`, async () => {
      const { pid = 0 } = environment.service.child;
      const before = await runningParts(pid);
      const attack = attackers.start(name, environment.target, { answers: count, matching: expected.source });
      const felt = nothingFelt();
      const asking = (async () => {
        for (let n = 0; n < REQUESTS; n += 1) await victim.ask(felt);
        if (name === 'wrong passwords')
          for (const email of environment.signedIn)
            assert.equal(await signIn(environment.target.apiPort, email), 200, `${email} did not sign in`);
        return attack.answers;
      })();
      const peaks = await watchPeaks(pid, environment.journalDirectory, asking);
      const answers = await asking;
      const seen = seenUnder(answers, felt, peaks);
      assert.equal(felt.failures.size, 0, `the neighbour was not served; ${seen}`);
      const odd = Object.keys(answers).filter((answer) => !expected.test(answer) && !BUSY.test(answer));
      assert.deepEqual(odd, [], `the attackers got an answer that is not expected; ${seen}`);
      assert.ok(peaks.journalMb < 8, `the journal grew; ${seen}`);
      const now = await runningParts(pid);
      assert.deepEqual([...before.keys()].sort(), ['api', 'gateway', 'postgres', 'telemetry'], seen);
      for (const [part, one] of before)
        assert.equal(now.get(part)?.pid, one.pid, `${part} was replaced; ${seen}`);
      const ended = environment.service.logLines.filter((line) => line['event'] === 'gateway.process_ended');
      assert.deepEqual(ended, [], seen);
    });
  }
});

/** All values of an attack, for the message of a test that fails. */
function seenUnder(answers: Readonly<Record<string, number>>, felt: Felt, peaks: Peaks): string {
  const slowest = (times: readonly number[]) => `${Math.round(Math.max(...times))} ms`;
  const memory = [...peaks.residentMb].map(([part, mb]) => `${part} ${mb.toFixed(0)} MiB`);
  return [
    `attackers got ${JSON.stringify(answers)}`,
    `neighbour got ${JSON.stringify(Object.fromEntries(felt.failures))} instead of 200`,
    `at most ${slowest(felt.apiMs)} from the API and ${slowest(felt.gatewayMs)} from the gateway`,
    `peaks: ${memory.join(', ')}, journal ${peaks.journalMb.toFixed(1)} MiB`,
  ].join('; ');
}
