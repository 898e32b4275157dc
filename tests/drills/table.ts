import { ATTACK_NAMES } from './attack-kinds.ts';
import type { Drill } from './drill.ts';
import { ROWS } from './outages/rows.ts';

/** A drill of `npm run drill`, which lists them. */
export interface DrillEntry {
  readonly name: string;
  /** A sentence: what happens, and what must hold meanwhile or what is printed. */
  readonly about: string;
  /** How long it takes with its usual cycles on two cores. */
  readonly duration: string;
  /** The meaning of a cycle, and how many the drill makes unless `--cycles` says so. */
  readonly cycles: { readonly count: number; readonly of: string };
  /** True if `--seed` repeats its random choices. */
  readonly isSeeded: boolean;
  /** The parts that `--only` can choose. */
  readonly parts?: readonly string[];
  load(): Promise<Drill>;
}

export const DRILLS: readonly DrillEntry[] = [
  {
    name: 'kills',
    about:
      'Gateways, APIs, the engine and PostgreSQL are killed at random moments under mixed load, 200, 200, 100 and 20 times: nothing acknowledged is lost or doubled.',
    duration: '13 min',
    cycles: { count: 520, of: 'kills of all kinds' },
    isSeeded: true,
    load: async () => (await import('./kills/kills.ts')).drill,
  },
  {
    name: 'alert-kills',
    about:
      'Every process is killed between the cause of an alert and its delivery: each alert arrives, and those that arrive again have the same id.',
    duration: '15 min',
    cycles: { count: 200, of: 'kills' },
    isSeeded: true,
    load: async () => (await import('./alert-kills.ts')).drill,
  },
  {
    name: 'telemetry-away',
    about:
      'The telemetry store is unreachable for 30 minutes of full load, compressed in time: callers notice nothing, and rows are then stored at five times the rate at which they arrive.',
    duration: '4 min',
    cycles: { count: 30, of: 'minutes without telemetry' },
    isSeeded: true,
    load: async () => (await import('./kills/telemetry-away.ts')).drill,
  },
  {
    name: 'lost-machine',
    about:
      'A gateway is killed under load and its data directory deleted, again and again: only what was in that directory is lost, and the drill prints how much.',
    duration: '5 min',
    cycles: { count: 20, of: 'lost machines' },
    isSeeded: true,
    load: async () => (await import('./kills/lost-machine.ts')).drill,
  },
  {
    name: 'contested-names',
    about:
      'Two renames, and then 20 registrations, compete for one name over two processes: one organisation gets it.',
    duration: '30 s',
    cycles: { count: 200, of: 'rounds' },
    isSeeded: false,
    load: async () => (await import('./contested-names.ts')).drill,
  },
  {
    name: 'key-changes',
    about:
      '64 clients mint, update and revoke the keys of one organisation over two processes: one serial order explains every answer.',
    duration: '30 s',
    cycles: { count: 10_000, of: 'changes' },
    isSeeded: true,
    load: async () => (await import('./key-changes.ts')).drill,
  },
  {
    name: 'key-race-rounds',
    about:
      'Updates of a key race against settlements and revocations: no limit ends below the spend, and nothing changes a revoked key.',
    duration: '1 min',
    cycles: { count: 1_000, of: 'races of each kind' },
    isSeeded: true,
    load: async () => (await import('./key-race-rounds.ts')).drill,
  },
  {
    name: 'credit',
    about:
      '200 concurrent requests over two gateways use a key whose limit covers 100: at least 95 are served, and never more is spent than the limit.',
    duration: '1 min',
    cycles: { count: 200, of: 'trials' },
    isSeeded: false,
    load: async () => (await import('./credit.ts')).drill,
  },
  {
    name: 'credit-one-port',
    about: 'Like credit, over two gateway processes on one port.',
    duration: '1 min',
    cycles: { count: 200, of: 'trials' },
    isSeeded: false,
    load: async () => (await import('./credit.ts')).drillOnOnePort,
  },
  {
    name: 'credit-histories',
    about:
      'Random histories of credit over two gateways are checked against the rules; a failing seed is printed and can be replayed.',
    duration: '3 min',
    cycles: { count: 1_000, of: 'histories' },
    isSeeded: true,
    load: async () => (await import('./credit-histories.ts')).drill,
  },
  {
    name: 'fallbacks',
    about: 'Three targets fail at random: every request that one of them can serve is served, and paid once.',
    duration: '3 min',
    cycles: { count: 10_000, of: 'requests' },
    isSeeded: true,
    load: async () => (await import('./fallbacks.ts')).drill,
  },
  {
    name: 'revocation',
    about:
      'Keys are revoked while two gateways serve their requests: no request that begins after the answer is served.',
    duration: '3 min',
    cycles: { count: 10_000, of: 'races' },
    isSeeded: false,
    load: async () => (await import('./revocation.ts')).drill,
  },
  {
    name: 'revocation-one-port',
    about: 'Like revocation, over two gateway processes on one port.',
    duration: '3 min',
    cycles: { count: 10_000, of: 'races' },
    isSeeded: false,
    load: async () => (await import('./revocation.ts')).drillOnOnePort,
  },
  {
    name: 'rate',
    about:
      'A key sends far more than its rate allows: no 60 seconds of real time have more served requests than the limit.',
    duration: '2 min',
    cycles: { count: 125, of: 'seconds' },
    isSeeded: false,
    load: async () => (await import('./rate.ts')).drill,
  },
  {
    name: 'rate-one-port',
    about: 'Like rate, over two gateway processes on one port, one of which is killed every 20 s.',
    duration: '2 min',
    cycles: { count: 125, of: 'seconds' },
    isSeeded: false,
    load: async () => (await import('./rate.ts')).drillOnOnePort,
  },
  {
    name: 'rate-in-redis',
    about:
      'Like rate, over two gateways with one Redis, whose counting server is killed every 50 s and comes back empty: alone, with a replica that sentinels promote, and in a cluster, a part each.',
    duration: '10 min',
    cycles: { count: 185, of: 'seconds of each part' },
    isSeeded: false,
    parts: ['alone', 'sentinel', 'cluster'],
    load: async () => (await import('./rate-in-redis.ts')).drill,
  },
  {
    name: 'nodes',
    about:
      'Of two APIs and two gateways behind nginx, each is killed or stopped and started again, and a gateway is cut off from the database, under a load of changes and model requests: nothing acknowledged is lost or doubled.',
    duration: '2 min',
    cycles: { count: 8, of: 'stops' },
    isSeeded: false,
    load: async () => (await import('./nodes/mixed-load.ts')).drill,
  },
  {
    name: 'nodes-limits',
    about:
      'Revocation, rate, credit and headroom hold over two APIs and two gateways behind nginx, while a gateway and an API are killed and a gateway is cut off from the database.',
    duration: '5 min',
    cycles: { count: 4, of: 'rounds of three troubles' },
    isSeeded: false,
    load: async () => (await import('./nodes/limits.ts')).drill,
  },
  {
    name: 'ledger-histories',
    about:
      'Random histories of the ledger, with crashes between any two steps, are compared with a model; a failing seed is printed and can be replayed.',
    duration: '2 min',
    cycles: { count: 100_000, of: 'histories' },
    isSeeded: true,
    load: async () => (await import('./ledger-histories.ts')).drill,
  },
  {
    name: 'vault-rotation',
    about:
      'The rotation of the master key is killed again and again, with 20,000 provider keys under load: every key can be read at all times.',
    duration: '1 min',
    cycles: { count: 20, of: 'kills' },
    isSeeded: false,
    load: async () => (await import('./vault-rotation.ts')).drill,
  },
  {
    name: 'outages',
    about:
      'Each store and provider is slow, refuses connections, never answers or drops packets, disks are full and clocks are wrong: what callers get, how long they wait and what is kept is as docs/reliability.md says, a part for each of its rows.',
    duration: '20 min',
    cycles: { count: 12, of: 'seconds of each outage' },
    isSeeded: false,
    parts: ROWS.map(({ name }) => name),
    load: async () => (await import('./outages/outages.ts')).drill,
  },
  {
    name: 'analytics-fairness',
    about:
      'One organisation sends two hundred heavy queries at once, in waves: prints the latency of another organisation beside its quiet latency.',
    duration: '1 min',
    cycles: { count: 3, of: 'waves' },
    isSeeded: false,
    load: async () => (await import('./analytics-fairness.ts')).drill,
  },
  {
    name: 'pipelining',
    about:
      'One organisation pipelines over eight connections, to the API and to the gateway: prints the latency of another beside its quiet latency.',
    duration: '30 s',
    cycles: { count: 4, of: 'seconds of each measurement' },
    isSeeded: false,
    load: async () => (await import('./pipelining.ts')).drill,
  },
  {
    name: 'wrong-passwords',
    about: 'People sign in during a flood of wrong passwords: prints how many succeed.',
    duration: '1 min',
    cycles: { count: 69, of: 'right passwords' },
    isSeeded: false,
    load: async () => (await import('./wrong-passwords.ts')).drill,
  },
  {
    name: 'attacks',
    // The busy machine is one of the names.
    about: `${ATTACK_NAMES.length - 1} attacks on a service with small heaps, and a busy machine without one, three times each: no process ends; prints the latency of another organisation beside its quiet latency, memory and processor time of each process, and the size of the journal.`,
    duration: '13 min',
    cycles: { count: 10, of: 'seconds of each attack in a round' },
    isSeeded: false,
    parts: ATTACK_NAMES,
    load: async () => (await import('./attacks.ts')).drill,
  },
  {
    name: 'soak',
    about:
      'A steady mixed load at half of the capacity: memory, open files, every table and every folder keep their size, and nothing is lost.',
    duration: '1 h',
    cycles: { count: 60, of: 'minutes' },
    isSeeded: true,
    load: async () => (await import('./capacity/soak.ts')).drill,
  },
  {
    name: 'postgres-failover',
    about:
      'The primary of PostgreSQL is killed under changes and requests, and its synchronous standby is promoted, with DATABASE_URL naming both, or a PgBouncer that is told, a part each: nothing acknowledged is lost or doubled, everything else is 503 with Retry-After, and requests are served within two seconds. It needs the PostgreSQL of Debian.',
    duration: '2 min',
    cycles: { count: 5, of: 'fail-overs of each part' },
    isSeeded: false,
    parts: ['direct', 'pgbouncer'],
    load: async () => (await import('./stores/postgres-failover.ts')).drill,
  },
  {
    name: 'deployment',
    about:
      'The forms of docs/deployment.md are run by podman, a part each: the image without rights and on a read-only file system, stopped while a stream runs; a node with 512 MB under load; the units under systemd; and compose.yaml over stores of Debian, used through Caddy, stopped and started again. Streams end whole, every request is recorded and logged, and nothing is killed. It needs podman, runc and debootstrap, for the last part podman-compose and the ports 80 and 443, root, and registries of Debian and npm.',
    duration: '12 min',
    cycles: { count: 3, of: 'starts of the image' },
    isSeeded: false,
    parts: ['image', 'small-node', 'systemd', 'compose'],
    load: async () => (await import('./deployment/deployment.ts')).drill,
  },
  {
    name: 'rolling-restart',
    about:
      'Each of two APIs and two gateways is restarted in turn under load, and the balancer reloaded, behind nginx, Caddy and HAProxy, a part each: no request fails, streams of four seconds end whole, nothing is lost or doubled, and no key spends more than its limit.',
    duration: '5 min',
    cycles: { count: 4, of: 'restarts behind each balancer' },
    isSeeded: false,
    parts: ['nginx', 'caddy', 'haproxy'],
    load: async () => (await import('./nodes/rolling.ts')).drillRestart,
  },
  {
    name: 'rolling-upgrade',
    about:
      'Like rolling-restart, where each node runs an earlier commit and is replaced by this version; FROM names the commit, or it is the one before the newest step of the schema.',
    duration: '2 min',
    cycles: { count: 4, of: 'nodes' },
    isSeeded: false,
    load: async () => (await import('./nodes/rolling.ts')).drillUpgrade,
  },
];
