import { pkrNumber } from '@gatehouse/contract';
import type { OrganizationSummary } from '@gatehouse/control-plane/organization';

/** Credit that is neither spent nor held, in micro-PKR. */
export function availableMicroPkr(summary: OrganizationSummary): bigint {
  return summary.depositedMicroPkr - summary.spentMicroPkr - summary.heldMicroPkr;
}

/** An organisation as JSON shows it. */
export function summaryDocument(summary: OrganizationSummary) {
  return {
    id: summary.id,
    name: summary.name,
    created_at: summary.createdAt,
    members: summary.members,
    deposited_pkr: pkrNumber(summary.depositedMicroPkr),
    spent_pkr: pkrNumber(summary.spentMicroPkr),
    held_pkr: pkrNumber(summary.heldMicroPkr),
    available_pkr: pkrNumber(availableMicroPkr(summary)),
  };
}
