import { SAMPLER_NAMES, type SamplerName } from '@gatehouse/observability';
import { isHttpAddress } from './addresses.ts';
import { address, setting } from './setting.ts';

const PROVIDER = /^[^,\s][^,]{0,127}$/;

// The names are OpenTelemetry's, so that what a platform sets for every service works here too.
export const otlpSettings = {
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'The OpenTelemetry collector of traces and metrics, over HTTP with JSON: `/v1/traces` and `/v1/metrics` below this address ([more variables](monitoring.md#opentelemetry)).',
    {
      ...address(isHttpAddress, 'http://', 'https://'),
      // The exporter reads the variable itself.
      mayBeInFile: false,
      fallback: undefined as string | undefined,
      fallbackText: 'nothing is sent',
    },
  ),
  tracesSampler: setting('OTEL_TRACES_SAMPLER', 'Which traces are kept.', {
    expected: SAMPLER_NAMES.join(', '),
    fallback: 'parentbased_always_on' as SamplerName,
    parse: (text) => SAMPLER_NAMES.find((name) => name === text),
  }),
  tracesSamplerRatio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    'The share of traces that `traceidratio` and `parentbased_traceidratio` keep.',
    {
      expected: 'a number from 0 to 1',
      fallback: 1,
      parse: (text) => {
        const ratio = /^(?:0|1|0?\.\d{1,9}|1\.0{1,9}|0\.\d{1,9})$/.test(text) ? Number(text) : Number.NaN;
        return ratio >= 0 && ratio <= 1 ? ratio : undefined;
      },
    },
  ),
  traceContextTo: setting(
    'TRACE_CONTEXT_TO',
    'The providers that get the trace context (`traceparent`): model servers of your own.',
    {
      expected: 'names of providers in the catalogue, separated by commas',
      fallback: new Set<string>() as ReadonlySet<string>,
      fallbackText: 'none',
      parse: (text) => {
        const names = text.split(',').map((name) => name.trim());
        return names.every((name) => PROVIDER.test(name)) ? new Set(names) : undefined;
      },
    },
  ),
};
