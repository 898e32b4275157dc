import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type AttackEnvironment, openAttackEnvironment, signIn } from '../drills/attack-environment.ts';
import { ATTACKS, type AttackName } from '../drills/attack-kinds.ts';
import { runningParts, watchPeaks } from '../drills/attack-memory.ts';
import { createVictim, nothingFelt, type Victim } from '../drills/attack-victim.ts';
import { type Attackers, startAttackers } from '../drills/attackers.ts';

// The short form of drills/attacks.ts: every attack once, on a service whose processes have a heap of 512 MB each.

/** The minimum number of requests of the neighbour to the API and to the gateway. */
const REQUESTS = 20;
const SIGN_INS = 3;

/** For each attack: the number of answers after which it ends, and the answers allowed. `closed` is an ended connection. */
const EXPECTED: Readonly<Record<AttackName, readonly [count: number, answers: RegExp]>> = {
  'busy machine, no attack': [0, /^$/],
  'bodies of empty objects': [4, /^413$/],
  'idle uploads': [8, /^(408|503)$/],
  'large bodies beyond the rate': [8, /^(200|429|closed)$/],
  'pipelining to the API': [300, /^(200|503)$/],
  'pipelining to the gateway': [500, /^(200|429|503)$/],
  'slow readers of large answers': [24, /^(200|503)$/],
  'refused requests with labels': [500, /^(200|429)$/],
  'wrong passwords': [40, /^(401|503)$/],
  'odd answers of a provider': [20, /^(bytes|hints|large) 200$|^(large) 503$|^(nested|status) 502$/],
};

describe('under attack', () => {
  const stack = new AsyncDisposableStack();
  let environment: AttackEnvironment;
  let attackers: Attackers;
  let victim: Victim;
  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-attacks-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    attackers = stack.use(await startAttackers());
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
      const attack = attackers.start(name, environment.target, count);
      const felt = nothingFelt();
      const asking = (async () => {
        for (let n = 0; n < REQUESTS; n += 1) await victim.ask(felt);
        if (name === 'wrong passwords')
          for (const email of environment.signedIn)
            assert.equal(await signIn(environment.target.apiPort, email), 200);
        return attack.answers;
      })();
      const peaks = await watchPeaks(pid, environment.journalDirectory, asking);
      const answers = Object.keys(await asking);
      assert.deepEqual([...felt.failures], []);
      assert.ok(answers.length > 0 && answers.every((answer) => expected.test(answer)), answers.join(', '));
      assert.ok(peaks.journalMb < 8, `${peaks.journalMb} MiB of journal`);
      const now = await runningParts(pid);
      assert.deepEqual([...before.keys()].sort(), ['api', 'gateway', 'postgres', 'telemetry']);
      for (const [part, one] of before) assert.equal(now.get(part)?.pid, one.pid, `${part} was replaced`);
      assert.ok(!environment.service.logLines.some((line) => line['event'] === 'gateway.process_ended'));
    });
  }
});
