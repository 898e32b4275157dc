import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, importDebian, ROOT } from './podman.ts';

/** Makes the images of the stores and of Caddy that compose.yaml names, of Debian's packages. */
export async function makeStoreImages(engine: Engine): Promise<void> {
  await importDebian(engine, 'gatehouse-stores', 'postgresql,redis-server,redis-tools,caddy,wget');
  const context = join(engine.directory, 'stores');
  await mkdir(join(context, 'node_modules'), { recursive: true });
  for (const name of ['chdb', '@chdb', 'node-gyp-build'])
    await cp(join(ROOT, 'node_modules', name), join(context, 'node_modules', name), { recursive: true });
  await cp(join(ROOT, 'tests'), join(context, 'tests'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
  await writeFile(join(context, 'postgres.sh'), START_POSTGRES, { mode: 0o755 });
  const images = {
    'docker.io/library/postgres:18': ['COPY postgres.sh /', 'CMD ["/postgres.sh"]'],
    'docker.io/clickhouse/clickhouse-server:25.8': [
      'COPY --from=localhost/gatehouse /gatehouse /gatehouse',
      'COPY node_modules /gatehouse/node_modules',
      'COPY tests /gatehouse/tests',
      'ENV PATH=/gatehouse/node_modules/.bin:$PATH',
      'CMD ["node", "/gatehouse/tests/drills/deployment/clickhouse-main.ts"]',
    ],
    'docker.io/valkey/valkey:8': [
      'RUN ln -s redis-server /usr/bin/valkey-server && ln -s redis-cli /usr/bin/valkey-cli',
      'RUN rm -rf /etc/redis && mkdir /data',
      'WORKDIR /data',
    ],
    'docker.io/library/caddy:2': [
      'ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config',
      'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
    ],
  };
  for (const [image, lines] of Object.entries(images)) {
    await writeFile(join(context, 'Dockerfile'), `FROM localhost/gatehouse-stores\n${lines.join('\n')}\n`);
    await engine.podman('build', '--isolation=chroot', '--quiet', '--tag', image, context);
  }
}

/** The entry point of PostgreSQL's own image does this with the settings of compose.yaml. */
const START_POSTGRES = `#!/bin/sh
set -e
as_postgres() { runuser -u postgres -- "$@"; }
bin=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/data
if [ ! -e $data/PG_VERSION ]; then
  install -d -o postgres $data
  printf %s "$POSTGRES_PASSWORD" > /tmp/password
  chmod 644 /tmp/password
  as_postgres $bin/initdb --pgdata=$data --username=$POSTGRES_USER --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
  echo "create database $POSTGRES_DB" | as_postgres $bin/postgres --single -D $data postgres
fi
exec runuser -u postgres -- $bin/postgres -D $data -c listen_addresses='*'
`;
