import type { Context, Granted } from '../pipeline/context.ts';

/** Throws the error of a reservation that failed. */
export function checkReservation({ reservation }: Pick<Context, 'reservation'>): Omit<Granted, 'kind'> {
  if (reservation.kind === 'failed') throw reservation.error;
  const { heldMicroPkr, admitted } = reservation;
  return { heldMicroPkr, admitted };
}
