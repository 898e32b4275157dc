// Every block of the pages that a deployment follows, by the beginning of its first line, and where it ran. A person deploys by the
// docs alone, so a command was run by a test, or the page says that nobody has.

/** The kind of a block. Settings are checked by cli/src/commands/documented-commands.test.ts, which reads all of them. */
export type Settled =
  /** Lines of settings. */
  | { readonly is: 'settings' }
  /** Output of a program, or a drawing: nothing to run. */
  | { readonly is: 'output' }
  /** A test or a drill that runs it; its file has these words. */
  | { readonly is: 'run'; readonly by: string; readonly words: string }
  /** Not run. The page says so, in the section of the block or in those above it. */
  | { readonly is: 'untried'; readonly says: string };

const SETTINGS: Settled = { is: 'settings' };
const OUTPUT: Settled = { is: 'output' };
const BY_HERE = 'tests/deployment-pages.test.ts';
const BY_SERVICE = 'tests/journey/documented-requests.test.ts';

export const DEPLOYMENT_BLOCKS: Readonly<Record<string, readonly (readonly [starts: string, Settled])[]>> = {
  'docs/deployment.md': [
    ['ALLOWED_HOSTS=', SETTINGS],
    ['HOST=10.0.3.10', SETTINGS],
    [
      '# /etc/caddy/Caddyfile',
      { is: 'run', by: 'tests/journey/relays.test.ts', words: "documented('Caddy')" },
    ],
    [
      '# /etc/nginx/conf.d/gatehouse.conf',
      { is: 'run', by: 'tests/journey/relays.test.ts', words: "documented('nginx')" },
    ],
    ['HOST=10.0.3.11', SETTINGS],
    [
      '# /etc/nginx/conf.d/gatehouse.conf: several nodes',
      { is: 'run', by: 'tests/drills/nodes/nginx.ts', words: "documented('nginx', 'several nodes')" },
    ],
    [
      '#!/bin/sh',
      { is: 'run', by: 'tests/drills/nodes/nginx.ts', words: "documented('sh', 'gatehouse-balance')" },
    ],
    ['HOST=0.0.0.0', SETTINGS],
    ['2   caller 203.0.113.9', OUTPUT],
    ['npm run build', { is: 'run', by: BY_HERE, words: "'npm run build'" }],
    ['useradd --system', { is: 'run', by: 'tests/drills/deployment/systemd.ts', words: 'useradd --system' }],
    [
      'docker build',
      { is: 'run', by: 'tests/drills/deployment/podman.ts', words: "'--read-only', '--tmpfs', '/tmp'" },
    ],
    [
      'cp deploy/compose/example.env',
      { is: 'run', by: 'tests/drills/deployment/compose.ts', words: "compose('up', '-d')" },
    ],
    ['kubectl create secret', { is: 'untried', says: '**It has not been applied to a cluster.**' }],
  ],
  'docs/upgrading.md': [],
  'docs/scaling.md': [
    ['$ gatehouse size', { is: 'run', by: BY_HERE, words: '$ gatehouse size' }],
    ['npm run drill -- soak', { is: 'run', by: 'tests/drills/table.ts', words: "name: 'soak'" }],
  ],
  'docs/postgresql.md': [
    ['node tests/postgres-versions.ts', { is: 'run', by: 'tests/postgres-versions.ts', words: 'main(' }],
    ['DATABASE_URL=', SETTINGS],
  ],
  'docs/operations.md': [
    ['REDIS_URL=', SETTINGS],
    ['CREATE ROLE gatehouse_service', { is: 'run', by: BY_HERE, words: 'CREATE ROLE gatehouse_service' }],
    ['DATABASE_POOLER=', SETTINGS],
    ['; /etc/pgbouncer/pgbouncer.ini', { is: 'run', by: 'tests/pgbouncer.ts', words: '```ini' }],
    ['ALLOWED_HOSTS=', SETTINGS],
    ['TOKEN=$(curl', { is: 'run', by: BY_SERVICE, words: 'TOKEN=$(curl' }],
  ],
  'docs/monitoring.md': [
    ['METRICS_PORT=9464 npm start', { is: 'run', by: BY_SERVICE, words: 'curl -s http' }],
    ['# HELP gatehouse_gateway_requests_total', OUTPUT],
    ['scrape_configs:', { is: 'run', by: BY_HERE, words: 'scrape_configs:' }],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT=',
      { is: 'run', by: 'tests/journey/tracing.test.ts', words: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
    ],
  ],
};
