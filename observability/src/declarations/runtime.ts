import { counter, gauge, histogram, type MetricDeclaration } from '../declaration.ts';

// What prom-client measures of every process. The names are its own, which dashboards for Node know.

const plain = (name: string, unit: string, meaning: string, alert?: string) =>
  gauge(name, { unit, meaning, ...(alert !== undefined && { alert }) });
const delay = (name: string, which: string, alert?: string) =>
  plain(`nodejs_eventloop_lag_${name}`, 'seconds', `${which} event-loop delay since the last scrape.`, alert);
const space = (name: string, which: string) =>
  gauge(`nodejs_heap_space_size_${name}_bytes`, {
    labels: ['space'],
    unit: 'bytes',
    meaning: `${which} of each space of the heap.`,
  });

export const runtimeMetrics: readonly MetricDeclaration[] = [
  counter('process_cpu_user_seconds_total', { unit: 'seconds', meaning: 'User CPU time.' }),
  counter('process_cpu_system_seconds_total', { unit: 'seconds', meaning: 'System CPU time.' }),
  counter('process_cpu_seconds_total', {
    unit: 'seconds',
    meaning: 'User and system CPU time.',
    alert: 'a rate above 0.9 of a gateway process',
  }),
  plain(
    'process_start_time_seconds',
    'seconds since the epoch',
    'When the process started, since the epoch.',
  ),
  plain('process_resident_memory_bytes', 'bytes', 'Resident memory.', 'growth over days'),
  plain('process_virtual_memory_bytes', 'bytes', 'Virtual memory. Linux only, as the next three.'),
  plain('process_heap_bytes', 'bytes', 'Size of the data segment.'),
  plain('process_open_fds', 'files', 'Open file descriptors.', 'more than 80 % of the next'),
  plain('process_max_fds', 'files', 'The limit of open file descriptors.'),
  plain('nodejs_eventloop_lag_seconds', 'seconds', 'Event-loop delay at the scrape before.'),
  delay('min_seconds', 'Least'),
  delay('max_seconds', 'Most'),
  delay('mean_seconds', 'Mean'),
  delay('stddev_seconds', 'Standard deviation of the'),
  delay('p50_seconds', 'Median'),
  delay('p90_seconds', '90th percentile of the'),
  delay('p99_seconds', '99th percentile of the', 'above 0.1 for five minutes'),
  gauge('nodejs_active_resources', {
    labels: ['type'],
    unit: 'resources',
    meaning: 'What keeps the event loop running, by type.',
  }),
  gauge('nodejs_active_handles', { labels: ['type'], unit: 'handles', meaning: 'Open handles, by type.' }),
  gauge('nodejs_active_requests', {
    labels: ['type'],
    unit: 'requests',
    meaning: 'Requests to the system in flight, by type.',
  }),
  plain('nodejs_heap_size_total_bytes', 'bytes', 'Size of the JavaScript heap.'),
  plain(
    'nodejs_heap_size_used_bytes',
    'bytes',
    'Used part of the JavaScript heap.',
    'near `GATEWAY_HEAP_MB`',
  ),
  plain('nodejs_external_memory_bytes', 'bytes', 'Memory of buffers outside the heap.'),
  space('total', 'Size'),
  space('used', 'Used part'),
  space('available', 'Free part'),
  gauge('nodejs_version_info', {
    labels: ['version', 'major', 'minor', 'patch'],
    unit: '1',
    meaning: 'The version of Node.',
  }),
  histogram('nodejs_gc_duration_seconds', [0.001, 0.01, 0.1, 1, 2, 5], {
    labels: ['kind'],
    unit: 'seconds',
    meaning: 'Garbage collections. `kind`: `major`, `minor`, `incremental` or `weakcb`.',
  }),
];
