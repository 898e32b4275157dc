/** An attempt that failed. The message is for the organisation, and tells nothing of the network of the service. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
}
