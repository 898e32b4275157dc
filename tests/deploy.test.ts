import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { chartHash, RENDERED, render } from './helm-chart.ts';

// What is in deploy/: that it parses, names settings that exist, and gives a stop more time than the drain takes.

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFile(join(root, path), 'utf8');
const isInstalled = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

// The requests' time, and what the journal and the connections may take after it (cli/src/gateway-child.ts).
const LONGEST_STOP_S = 45;
const LONGEST_DEFAULT_DELAY_S = 5;
const SETTINGS_OF_THE_IMAGE = ['NODE_ENV', 'NODE_OPTIONS', 'PATH'];

async function knownNames(): Promise<Set<string>> {
  const settings = [...(await read('.env.example')).matchAll(/^#([A-Z][A-Z0-9_]*)=$/gm)];
  const keys = [...(await read('catalogue.yaml')).matchAll(/api_key_env: *"?([A-Z0-9_]+)/g)];
  assert.ok(settings.length > 30 && keys.length > 2);
  return new Set([...settings, ...keys].map((match) => match[1] as string));
}

type Resource = { kind: string; metadata: { name: string; annotations?: Record<string, string> } } & Record<
  string,
  // biome-ignore lint/suspicious/noExplicitAny: parsed YAML
  any
>;

describe('the compose file', () => {
  it('names settings that exist, and gives a stop enough time', async () => {
    const { services, volumes } = parse(await read('deploy/compose/compose.yaml'), { merge: true });
    const known = await knownNames();
    for (const name of ['api-1', 'api-2', 'gateway-1', 'gateway-2']) {
      const service = services[name];
      assert.deepEqual(
        Object.keys(service.environment).filter((one) => !known.has(one)),
        [],
      );
      const delay = Number(service.environment['DRAIN_DELAY']);
      assert.ok(delay > 2, 'Caddy notices after its interval');
      assert.ok(Number.parseInt(service.stop_grace_period, 10) > delay + LONGEST_STOP_S);
      assert.equal(service.read_only, true);
      assert.deepEqual(service.volumes, [`${name}:/data`]);
      assert.ok(name in volumes);
      assert.deepEqual(service.command, ['start', '--role', name.split('-')[0]]);
    }
    // Only the proxy is reachable from outside.
    const published = Object.entries(services).filter(([, one]) => (one as { ports?: unknown }).ports);
    assert.deepEqual(
      published.map(([name]) => name),
      ['caddy'],
    );
  });

  it('has every variable that it requires in the example', async () => {
    const required = [...(await read('deploy/compose/compose.yaml')).matchAll(/\$\{([A-Z_]+):\?/g)];
    const example = await read('deploy/compose/example.env');
    for (const [, name] of required) assert.match(example, new RegExp(`^${name}=`, 'm'));
  });
});

describe('the image', () => {
  it('runs as another user than root, on production dependencies, with a health check', async () => {
    const text = await read('deploy/docker/Dockerfile');
    const known = await knownNames();
    assert.match(text, /^USER 65532:65532$/m);
    assert.match(text, /^HEALTHCHECK /m);
    assert.match(text, /npm ci --omit=dev --ignore-scripts/);
    assert.match(text, /^ENTRYPOINT \["node", "\/gatehouse\/cli\/bin\/gatehouse\.mjs"\]$/m);
    const set = [...text.matchAll(/(?:^ENV| ) *([A-Z_]+)=/gm)].map((match) => match[1] ?? '');
    assert.ok(set.length > 3);
    assert.deepEqual(
      set.filter((name) => !known.has(name) && !SETTINGS_OF_THE_IMAGE.includes(name)),
      [],
    );
    for (const [, path] of text.matchAll(/\/gatehouse\/((?:cli|setup)\/[\w./-]+\.mjs)/g))
      await access(join(root, path ?? ''));
  });
});

describe('the systemd units', () => {
  for (const unit of ['gatehouse.service', 'gatehouse@.service'])
    it(`${unit} names a program and settings that exist, and gives a stop enough time`, async () => {
      const text = await read(`deploy/systemd/${unit}`);
      const known = await knownNames();
      for (const [, name] of text.matchAll(/^Environment=([A-Z_]+)=/gm))
        assert.ok(known.has(name ?? ''), name);
      const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]);
      assert.ok(stopSeconds > LONGEST_DEFAULT_DELAY_S + LONGEST_STOP_S);
      const [, program] = /^ExecStart=.* \/opt\/gatehouse\/(\S+)/m.exec(text) ?? [];
      await access(join(root, program ?? 'none'));
    });

  const hasAnalyzer = isInstalled('systemd-analyze', '--version');
  it('are accepted by systemd', { skip: hasAnalyzer ? false : 'systemd-analyze is not installed' }, () => {
    const { stderr } = spawnSync(
      'systemd-analyze',
      ['verify', join(root, 'deploy/systemd/gatehouse.service')],
      {
        encoding: 'utf8',
      },
    );
    // Nothing is installed in /opt here.
    const said = stderr
      .split('\n')
      .filter((line) => line.includes('gatehouse') && !/is not executable/.test(line));
    assert.deepEqual(said, []);
  });
});

describe('the chart', () => {
  const load = async () => {
    const documents = parseAllDocuments(await readFile(RENDERED, 'utf8'));
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    return documents.map((document) => document.toJS() as Resource);
  };

  it('is the one that was rendered', async () => {
    const text = await readFile(RENDERED, 'utf8');
    assert.ok(text.startsWith(`# chart ${chartHash()}\n`), 'render it: node tests/helm-chart.ts');
  });

  const hasHelm = isInstalled('helm', 'version');
  it('is rendered by Helm as committed', { skip: hasHelm ? false : 'helm is not installed' }, async () => {
    assert.equal(render(), await readFile(RENDERED, 'utf8'));
  });

  it('runs each role with probes, a drain, a closed file system, and settings that exist', async () => {
    const resources = await load();
    const known = await knownNames();
    for (const [kind, role] of [
      ['Deployment', 'api'],
      ['StatefulSet', 'gateway'],
    ] as const) {
      const { spec } = resources.find((one) => one.kind === kind) ?? assert.fail(kind);
      const pod = spec.template.spec;
      const [container] = pod.containers;
      assert.deepEqual(container.args, ['start', '--role', role]);
      const { readinessProbe, env } = container;
      const delay = Number(env.find((one: { name: string }) => one.name === 'DRAIN_DELAY')?.value);
      assert.ok(delay > readinessProbe.periodSeconds * readinessProbe.failureThreshold);
      assert.ok(pod.terminationGracePeriodSeconds > delay + LONGEST_STOP_S);
      // It would only postpone the moment in which readiness ends.
      assert.equal(container.lifecycle, undefined);
      // Otherwise Kubernetes sets GATEWAY_PORT.
      assert.equal(pod.enableServiceLinks, false);
      assert.equal(pod.securityContext.runAsNonRoot, true);
      assert.equal(container.securityContext.readOnlyRootFilesystem, true);
      assert.equal(container.readinessProbe.httpGet.path, '/readyz');
      assert.equal(container.livenessProbe.httpGet.path, '/healthz');
      const names = container.env.map((one: { name: string }) => one.name);
      assert.deepEqual(
        names.filter((name: string) => !known.has(name)),
        [],
      );
    }
    const map = resources.find((one) => one.kind === 'ConfigMap') ?? assert.fail('ConfigMap');
    assert.deepEqual(
      Object.keys(map['data']).filter((name) => !known.has(name)),
      [],
    );
  });

  it('keeps the journal of a gateway, and migrates before an upgrade', async () => {
    const resources = await load();
    const gateway = resources.find((one) => one.kind === 'StatefulSet') ?? assert.fail('StatefulSet');
    assert.equal(gateway['spec'].volumeClaimTemplates[0].metadata.name, 'data');
    assert.equal(gateway['spec'].persistentVolumeClaimRetentionPolicy.whenScaled, 'Retain');
    const job = resources.find((one) => one.kind === 'Job') ?? assert.fail('Job');
    assert.equal(job.metadata.annotations?.['helm.sh/hook'], 'pre-install,pre-upgrade');
    assert.deepEqual(job['spec'].template.spec.containers[0].args, ['migrate']);
  });
});
