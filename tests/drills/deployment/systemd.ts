import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completion, json } from '@gatehouse/gateway/testing';
import { eventually } from '../../service-process.ts';
import type { DrillSettings } from '../drill.ts';
import { cloneSource, type Engine, LIMITS, makeSystemdImage, npmArguments } from './podman.ts';
import {
  type DeploymentStand,
  isWholeStream,
  openDeploymentStand,
  SLOW_STREAM_SECONDS,
  secondsSince,
  slowStream,
} from './stand.ts';

const page = join(import.meta.dirname, '../../../docs/deployment.md');
/** More lines than journald lets through in 30 seconds unless the unit says otherwise. */
const LOGGED = 12_000;
const CALLERS = 64;
const SETTINGS = '/etc/gatehouse/gatehouse.env';

/**
 * The commands of docs/deployment.md and both units under systemd, in a container: the whole service with its own stores, killed and
 * restarted under a stream, and then each role on external stores, with a line in the journal for each of many requests.
 */
export async function runUnits(engine: Engine, { log }: DrillSettings): Promise<readonly string[]> {
  await makeSystemdImage(engine);
  const source = await cloneSource(engine.directory);
  await using stand = await openDeploymentStand(join(engine.directory, 'units'));
  await engine.podman(
    ...[
      'run',
      '--detach',
      '--name',
      'units',
      '--privileged',
      '--systemd=always',
      '--network=host',
      ...LIMITS,
    ],
    ...['--volume', `${source}:/root/gatehouse:ro`, '--volume', `${stand.secrets}:/secrets:ro`],
    ...[...(await npmArguments()), 'gatehouse-systemd', '/lib/systemd/systemd'],
  );
  const inside = (script: string) => engine.podman('exec', 'units', 'sh', '-ec', script);
  await eventually(() =>
    inside('systemctl is-system-running').then(
      () => true,
      () => undefined,
    ),
  );
  log(`${(await inside('systemctl --version')).split('\n')[0]}`);
  const broken = [...(await runWhole(stand, inside, log)), ...(await runRoles(stand, inside, log))];
  await engine.podman('rm', '--force', 'units');
  await rm(source, { recursive: true });
  return broken;
}

type Inside = (script: string) => Promise<string>;
type Log = (line: string) => void;

async function runWhole(stand: DeploymentStand, inside: Inside, log: Log): Promise<string[]> {
  const commands = (await documentedCommands()).split('\n');
  const enable = commands.pop() ?? '';
  const installedAt = performance.now();
  await inside(`cd /root/gatehouse\n${commands.join('\n')}`);
  log(`installed in ${secondsSince(installedAt)}`);
  const { CATALOGUE, PORT, GATEWAY_PORT, RATE_LIMIT_CEILING_RPM } = stand.environment('/secrets');
  await addSettings(stand, inside, { CATALOGUE, PORT, GATEWAY_PORT, RATE_LIMIT_CEILING_RPM });
  const startedAt = performance.now();
  await inside(enable);
  await stand.ready();
  log(`the whole service ready in ${secondsSince(startedAt)}`);
  const broken: string[] = [];
  stand.provider.script = json(completion('Hello there.', { prompt: 5, completion: 10 }));
  const secret = await stand.mint();
  const firstStatus = (await ask(stand, secret)).status;
  if (firstStatus !== 200) broken.push(`the first request was answered ${firstStatus}`);

  const killedAt = performance.now();
  await inside('systemctl kill --signal=KILL --kill-who=main gatehouse');
  await eventually(async () => (await restarts(inside)) === 1 || undefined);
  await stand.ready();
  log(`killed, and ready again in ${secondsSince(killedAt)}`);
  const again = (await ask(stand, secret)).status;
  if (again !== 200) broken.push(`after the kill a request was answered ${again}`);

  stand.provider.script = slowStream;
  const stream = await ask(stand, secret, { stream: true });
  const [text] = await Promise.all([stream.text(), inside('systemctl restart gatehouse')]);
  if (!isWholeStream(text)) broken.push(`a stream was cut by a restart: ${text.slice(-100)}`);
  await stand.ready();
  await inside('systemctl disable --now gatehouse');
  const result = await inside('systemctl show --property=Result --value gatehouse');
  if (result !== 'success') broken.push(`the unit stopped with ${result}`);
  log(`a stream of ${SLOW_STREAM_SECONDS} s ended whole over a restart; stopped with ${result}`);
  return broken;
}

async function runRoles(stand: DeploymentStand, inside: Inside, log: Log): Promise<string[]> {
  await inside(`cp /root/gatehouse/deploy/systemd/gatehouse@.service /etc/systemd/system/
install -m 0640 -g gatehouse /dev/null ${SETTINGS}
systemctl daemon-reload`);
  await addSettings(stand, inside, stand.environment('/secrets'));
  const startedAt = performance.now();
  await inside('systemctl start gatehouse@api gatehouse@gateway');
  await stand.ready();
  log(`both roles ready in ${secondsSince(startedAt)}`);
  stand.provider.script = json(completion('Hello there.', { prompt: 5, completion: 10 }));
  const secret = await stand.mint();
  const askedAt = performance.now();
  let left = LOGGED;
  let served = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (left-- > 0) if ((await ask(stand, secret)).status === 200) served += 1;
    }),
  );
  const took = secondsSince(askedAt);
  const count = async () =>
    Number(
      await inside(
        'journalctl --sync; journalctl --unit=gatehouse@gateway --output=cat --quiet | grep \'"path":"/v1/chat/completions"\' | grep -c \'"status":200\' || true',
      ),
    );
  const lines = await eventually(async () => {
    const found = await count();
    return found >= served ? found : undefined;
  }).catch(count);
  await inside('systemctl stop gatehouse@api gatehouse@gateway');
  log(`${served} requests served in ${took}, ${lines} lines in the journal`);
  const broken: string[] = [];
  if (served !== LOGGED) broken.push(`${served} of ${LOGGED} requests were served`);
  if (lines !== served) broken.push(`${served} requests were served, and the journal has ${lines} lines`);
  for (const role of ['api', 'gateway']) {
    const result = await inside(`systemctl show --property=Result --value gatehouse@${role}`);
    if (result !== 'success') broken.push(`gatehouse@${role} stopped with ${result}`);
  }
  return broken;
}

async function ask(stand: DeploymentStand, secret: string, more: object = {}): Promise<Response> {
  const answer = await stand.ask(secret, {
    messages: [{ role: 'user', content: 'hi' }],
    max_completion_tokens: 30,
    ...more,
  });
  if (!('stream' in more)) await answer.arrayBuffer();
  return answer;
}

async function restarts(inside: Inside): Promise<number> {
  return Number(await inside('systemctl show --property=NRestarts --value gatehouse'));
}

async function addSettings(
  { secrets }: DeploymentStand,
  inside: Inside,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const text = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(secrets, 'settings'), text.join(''));
  await inside(`cat /secrets/settings >> ${SETTINGS}`);
}

/** The block of the page that installs the unit. Its last line starts the service. */
async function documentedCommands(): Promise<string> {
  const text = await readFile(page, 'utf8');
  const block = /^```\n(useradd --system[\s\S]*?)\n```/m.exec(text)?.[1];
  if (block === undefined) throw new Error('docs/deployment.md has no commands for systemd');
  return block;
}
