import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import {
  chartHash,
  openChartRenderer,
  RENDERED,
  type Resource,
  renderReviewed,
  resourcesIn,
} from './helm-chart.ts';
import { kubernetesFaults } from './kubernetes-types.ts';

// What is in deploy/: that it parses, names settings that exist, and gives a stop more time than the drain takes.

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFile(join(root, path), 'utf8');
const isInstalled = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

// The requests' time, and what the journal and the connections may take after it (cli/src/process/gateway-child.ts).
const MAX_STOP_S = 45;
const MAX_DEFAULT_DELAY_S = 5;
const SETTINGS_OF_THE_IMAGE = ['NODE_ENV', 'NODE_OPTIONS', 'PATH'];

async function knownNames(): Promise<Set<string>> {
  const settings = [...(await read('.env.example')).matchAll(/^#([A-Z][A-Z0-9_]*)=$/gm)];
  const keys = [...(await read('catalogue.yaml')).matchAll(/api_key_env: *"?([A-Z0-9_]+)/g)];
  assert.ok(settings.length > 30 && keys.length > 2);
  return new Set([...settings, ...keys].map((match) => match[1] as string));
}

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
      assert.ok(Number.parseInt(service.stop_grace_period, 10) > delay + MAX_STOP_S);
      assert.equal(service.read_only, true);
      assert.deepEqual(service.volumes, [`${name}:/data`]);
      assert.ok(name in volumes);
      assert.deepEqual(service.command, ['start', '--role', name.split('-')[0]]);
    }
    // An evicted key would start from zero.
    assert.equal(services.valkey.command.at(-1), 'noeviction');
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
      assert.ok(stopSeconds > MAX_DEFAULT_DELAY_S + MAX_STOP_S);
      // The log has a line a request, of which journald would drop some.
      assert.match(text, /^LogRateLimitIntervalSec=0$/m);
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
  const load = async () => resourcesIn(await readFile(RENDERED, 'utf8'));

  it('is the one that was rendered', async () => {
    const text = await readFile(RENDERED, 'utf8');
    assert.ok(text.startsWith(`# chart ${chartHash()}\n`), 'render it: node tests/helm-chart.ts');
  });

  it('is what the schema of Kubernetes allows, which refuses a member that it does not know', async () => {
    const resources = await load();
    const changed = (change: (spec: Resource[string], container: Resource[string]) => void) => {
      const copy = structuredClone(resources);
      const { spec } = copy.find(({ kind }) => kind === 'StatefulSet') ?? assert.fail('StatefulSet');
      change(spec, spec.template.spec.containers[0]);
      return copy;
    };
    const faults = kubernetesFaults({
      rendered: resources,
      misspelt: changed((_, container) => {
        container.readynessProbe = container.readinessProbe;
      }),
      missing: changed((spec) => {
        delete spec.selector;
      }),
      mistyped: changed((_, container) => {
        container.ports[0].containerPort = '8081';
      }),
    });
    assert.deepEqual(
      faults.map((fault) => /^(\w+): .*'"?(?:readynessProbe|selector|number)"?'/.exec(fault)?.[1]),
      ['misspelt', 'missing', 'mistyped'],
      faults.join('\n'),
    );
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
      assert.ok(pod.terminationGracePeriodSeconds > delay + MAX_STOP_S);
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

/** Values as operators of different clusters give them. */
const VALUE_SETS = {
  least: '',
  ingress: 'ingress: { enabled: true, annotations: { cert-manager.io/cluster-issuer: company } }\n',
  owners: 'migration: { existingSecret: owners, activeDeadlineSeconds: 60 }\n',
  'without migration': 'migration: { enabled: false }\n',
  pooler: 'settings: { DATABASE_POOLER: transaction, TELEMETRY_RETENTION_DAYS: 30, DASHBOARD: off }\n',
  placed: `nodeSelector: { disk: ssd }
tolerations: [{ key: dedicated, operator: Exists }]
affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: In, values: [a, b] }] }] } } }
priorityClassName: high
podAnnotations: { team: platform }
serviceAccount: { name: gatehouse }
`,
  files: `imagePullSecrets: [{ name: registry }]
extraVolumes: [{ name: ca, secret: { secretName: ca } }]
extraVolumeMounts: [{ name: ca, mountPath: /etc/gatehouse/ca, readOnly: true }]
image: { repository: registry.example/gatehouse, digest: "sha256:${'0'.repeat(64)}" }
`,
  'closed network': `networkPolicy:
  from: [{ namespaceSelector: { matchLabels: { name: ingress } } }]
  metricsFrom: [{ namespaceSelector: { matchLabels: { name: monitoring } } }]
  egress: [{ to: [{ ipBlock: { cidr: 10.0.0.0/8 } }] }]
`,
  bare: 'networkPolicy: { enabled: false }\nmetrics: { enabled: false }\n',
  large: `api: { replicas: 6, resources: { limits: { memory: 4Gi } } }
gateway: { replicas: 12, processes: 4, journal: { size: 100Gi, storageClassName: fast }, resources: { requests: { cpu: "4" } } }
drainDelaySeconds: 20
terminationGracePeriodSeconds: 120
`,
};

describe('the chart, rendered with values', { timeout: 120_000 }, () => {
  const renderer = openChartRenderer();
  after(() => renderer?.[Symbol.dispose]());
  const skip =
    renderer === undefined && 'neither Helm nor Go with sprig and ghodss/yaml of Debian is installed';
  const rendered = (values: string): Resource[] =>
    resourcesIn((renderer ?? assert.fail('skipped')).render(`existingSecret: secrets\n${values}`));
  const find = (resources: readonly Resource[], kind: string, name: string) =>
    resources.find((one) => one.kind === kind && one.metadata.name.startsWith(`gatehouse-${name}`)) ??
    assert.fail(`${kind} ${name}`);
  const pods = (resources: readonly Resource[]) =>
    [
      ['Deployment', 'api'],
      ['StatefulSet', 'gateway'],
      ['Job', 'migrate'],
    ].map(([kind = '', name = '']) => find(resources, kind, name)['spec'].template);
  const environmentOf = (pod: Resource[string]): Record<string, string> =>
    Object.fromEntries(
      pod.spec.containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );

  it('is the committed one with its values', { skip }, async () => {
    if (renderer === undefined) return;
    const sorted = (text: string) =>
      new Map(resourcesIn(text).map((one) => [`${one.kind} ${one.metadata.name}`, one]));
    assert.deepEqual(sorted(renderReviewed(renderer)), sorted(await readFile(RENDERED, 'utf8')));
  });

  it('is what the schema of Kubernetes allows, with ten sets of values', { skip }, () => {
    const sets = Object.entries(VALUE_SETS);
    assert.equal(sets.length, 10);
    const faults = kubernetesFaults(
      Object.fromEntries(sets.map(([name, values]) => [name, rendered(values)])),
    );
    assert.deepEqual(faults, []);
  });

  it('writes settings as they were meant, for the pods and for the migration', { skip }, () => {
    const resources = rendered(
      'settings: { CLICKHOUSE_CLUSTER: main, TELEMETRY_RETENTION_DAYS: 1000000, DASHBOARD: off, OTEL_TRACES_SAMPLER_ARG: 0.25, JOIN_POLICY: null }\nmigration: { activeDeadlineSeconds: 2000000 }\nterminationGracePeriodSeconds: 1000000\n',
    );
    const data: Record<string, string> = find(resources, 'ConfigMap', 'settings')['data'];
    const migration = environmentOf(pods(resources)[2]);
    for (const settings of [data, migration])
      assert.deepEqual(
        [
          'CLICKHOUSE_CLUSTER',
          'TELEMETRY_RETENTION_DAYS',
          'DASHBOARD',
          'OTEL_TRACES_SAMPLER_ARG',
          'JOIN_POLICY',
        ].map((name) => settings[name]),
        ['main', '1000000', 'off', '0.25', undefined],
      );
    assert.equal(find(resources, 'Job', 'migrate')['spec'].activeDeadlineSeconds, 2_000_000);
    assert.equal(pods(resources)[0].spec.terminationGracePeriodSeconds, 1_000_000);
    assert.throws(
      () => rendered('settings: { PORT: [1] }\n'),
      /a setting is text, a number, on or off, and not \[1\]/,
    );
  });

  it('gives the logins that own the schemas to the migration alone', { skip }, () => {
    const [api, gateway, migration] = pods(rendered('migration: { existingSecret: owners }\n'));
    const secretsOf = (pod: Resource[string]) =>
      pod.spec.containers[0].envFrom.flatMap(
        (one: { secretRef?: { name: string } }) => one.secretRef?.name ?? [],
      );
    assert.deepEqual([api, gateway, migration].map(secretsOf), [
      ['secrets'],
      ['secrets'],
      ['secrets', 'owners'],
    ]);
    const owners = ['DATABASE_OWNER_URL', 'CLICKHOUSE_OWNER_URL'];
    // Also where the one Secret has them: an empty value counts as unset.
    for (const pod of [api, gateway])
      assert.deepEqual(
        owners.map((name) => environmentOf(pod)[name]),
        ['', ''],
      );
    assert.deepEqual(
      owners.map((name) => environmentOf(migration)[name]),
      [undefined, undefined],
    );
    // Where they migrate themselves they need them, and with a pooler the address of PostgreSQL itself.
    const [alone] = pods(
      rendered('migration: { enabled: false }\n').concat(rendered('').filter(({ kind }) => kind === 'Job')),
    );
    assert.deepEqual(
      owners.map((name) => environmentOf(alone)[name]),
      [undefined, undefined],
    );
    const [pooled] = pods(rendered('settings: { DATABASE_POOLER: transaction }\n'));
    assert.deepEqual(
      owners.map((name) => environmentOf(pooled)[name]),
      [undefined, ''],
    );
  });

  it('places pods, names their account, and mounts files, for all and for each', { skip }, () => {
    const resources = rendered(`nodeSelector: { disk: ssd }
tolerations: [{ key: dedicated, operator: Exists }]
affinity: { nodeAffinity: {} }
priorityClassName: high
podAnnotations: { team: platform, cost: shared }
serviceAccount: { name: gatehouse }
imagePullSecrets: [{ name: registry }]
extraVolumes: [{ name: ca, secret: { secretName: ca } }]
extraVolumeMounts: [{ name: ca, mountPath: /etc/gatehouse/ca, readOnly: true }]
gateway: { nodeSelector: { disk: nvme }, podAnnotations: { cost: gateway } }
`);
    for (const [index, pod] of pods(resources).entries()) {
      const { spec, metadata } = pod;
      assert.deepEqual(spec.nodeSelector, { disk: index === 1 ? 'nvme' : 'ssd' });
      assert.deepEqual(spec.tolerations, [{ key: 'dedicated', operator: 'Exists' }]);
      assert.deepEqual(spec.affinity, { nodeAffinity: {} });
      assert.deepEqual([spec.priorityClassName, spec.serviceAccountName], ['high', 'gatehouse']);
      assert.equal(spec.automountServiceAccountToken, false);
      assert.deepEqual(spec.imagePullSecrets, [{ name: 'registry' }]);
      assert.deepEqual(
        [metadata.annotations.team, metadata.annotations.cost],
        ['platform', index === 1 ? 'gateway' : 'shared'],
      );
      assert.deepEqual(spec.volumes.at(-1), { name: 'ca', secret: { secretName: 'ca' } });
      assert.equal(spec.containers[0].volumeMounts.at(-1).mountPath, '/etc/gatehouse/ca');
    }
  });

  it('has a Service for the metrics of each role, and closes the network', { skip }, () => {
    const from = '{ namespaceSelector: { matchLabels: { name: ingress } } }';
    const resources = rendered(`networkPolicy: { from: [${from}] }\n`);
    for (const role of ['api', 'gateway']) {
      const { spec } = find(resources, 'Service', `${role}-metrics`);
      assert.deepEqual([spec.clusterIP, spec.ports[0].targetPort], ['None', 'metrics']);
      assert.equal(spec.selector['app.kubernetes.io/component'], role);
      const policy = find(resources, 'NetworkPolicy', role)['spec'];
      assert.equal(policy.podSelector.matchLabels['app.kubernetes.io/component'], role);
      assert.deepEqual(policy.policyTypes, ['Ingress', 'Egress']);
      assert.deepEqual(policy.ingress, [
        { ports: [{ port: 'http' }], from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
        { ports: [{ port: 'metrics' }], from: [{ podSelector: {} }] },
      ]);
      const blocks = policy.egress.flatMap(({ to = [] }) =>
        to.flatMap(({ ipBlock }: Resource) => ipBlock ?? []),
      );
      assert.deepEqual(
        blocks.map(({ except }: { except: string[] }) => except),
        [['169.254.0.0/16'], ['fe80::/10']],
      );
    }
    const migration = find(resources, 'NetworkPolicy', 'migration');
    assert.deepEqual(migration['spec'].ingress, []);
    assert.equal(migration.metadata.annotations?.['helm.sh/hook'], 'pre-install,pre-upgrade');
    const without = rendered('networkPolicy: { enabled: false }\nmetrics: { enabled: false }\n');
    assert.deepEqual(
      without.filter(({ kind, metadata }) => kind === 'NetworkPolicy' || metadata.name.endsWith('metrics')),
      [],
    );
  });

  it('trusts no range of proxies unless one is named', { skip }, () => {
    const data: Record<string, string> = find(rendered(''), 'ConfigMap', 'settings')['data'];
    assert.equal(data['TRUSTED_PROXIES'], undefined);
  });

  it('refuses to be rendered without a Secret', { skip }, () => {
    assert.throws(() => renderer?.render(''), /existingSecret must name a Secret with DATABASE_URL/);
  });
});
