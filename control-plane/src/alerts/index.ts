import type { Implementation } from '../http/implement.ts';
import type { AlertSettings } from '../settings.ts';
import type { VaultDependencies } from '../vault/index.ts';
import { createAlertChannel } from './create-alert-channel.ts';
import { deleteAlertChannel } from './delete-alert-channel.ts';
import { listAlertChannels } from './list-alert-channels.ts';
import { listAlertDeliveries } from './list-alert-deliveries.ts';
import { testAlertChannel } from './test-alert-channel.ts';

export { type AlertSenderDependencies, startAlertSender } from './alert-sender.ts';
export { alertOfExpiringKeys } from './expiries.ts';
export { sweepDeliveries } from './sweep.ts';

export function alertEndpoints(dependencies: VaultDependencies, settings: AlertSettings): Implementation[] {
  const { database } = dependencies;
  return [
    listAlertChannels(database),
    createAlertChannel(dependencies, settings),
    deleteAlertChannel(database),
    testAlertChannel(database),
    listAlertDeliveries(database),
  ];
}
