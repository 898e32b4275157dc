import { setting, wholeNumber } from './setting.ts';

/** The delay where DRAIN_DELAY is not set and a process runs one role, which is the form behind a balancer. */
export const DRAIN_DELAY_OF_ROLE_SECONDS = 5;

export const drainDelaySetting = setting(
  'DRAIN_DELAY',
  'Seconds after SIGTERM in which requests are served while `/readyz` answers 503. Longer than a balancer takes to notice. SIGINT does not wait.',
  {
    ...wholeNumber(0, 600),
    fallback: undefined as number | undefined,
    fallbackText: `${DRAIN_DELAY_OF_ROLE_SECONDS} with \`--role\`, otherwise 0`,
  },
);
