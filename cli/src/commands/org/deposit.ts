import { codePoints, isStorableText, microPkrFromDecimal, pkrInWords, pkrNumber } from '@gatehouse/contract';
import { deposit } from '@gatehouse/control-plane';
import type { Context } from '../command.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { notAccepted } from '../faults.ts';
import { print, shown } from '../output.ts';

// Whoever gives the command does so on this machine.
const SOURCE_IP = '127.0.0.1';

const MAX_NOTE_LENGTH = 500;

export async function depositForOrg(
  given: { readonly org: string; readonly pkr: string; readonly note: string | undefined },
  context: Context,
): Promise<number> {
  const amountMicroPkr = readAmount(given.pkr);
  const note = readNote(given.note);
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, given.org);
    const depositedMicroPkr = await change('gatehouse org show', () =>
      database.transaction((tx) =>
        deposit(tx, { organizationId: organization.id, amountMicroPkr, note, sourceIp: SOURCE_IP }),
      ),
    );
    print(
      context,
      {
        organization,
        amount_pkr: pkrNumber(amountMicroPkr),
        note,
        deposited_pkr: pkrNumber(depositedMicroPkr),
      },
      [
        `Deposited ${pkrInWords(amountMicroPkr)} for ${shown(organization.name)}: ${pkrInWords(depositedMicroPkr)} in all.`,
      ],
    );
    return 0;
  });
}

function readAmount(text: string): bigint {
  const amount = microPkrFromDecimal(text);
  if (typeof amount === 'bigint' && amount > 0n) return amount;
  throw notAccepted(
    '--pkr',
    text,
    amount === 'too-large'
      ? 'at most 9007199254.740991 PKR at once'
      : 'an amount of PKR above 0 with at most 6 decimals, such as 2500.50',
  );
}

function readNote(text: string | undefined): string | null {
  if (text === undefined || text.trim() === '') return null;
  if (isStorableText(text) && codePoints(text) <= MAX_NOTE_LENGTH) return text;
  throw notAccepted('--note', text, `at most ${MAX_NOTE_LENGTH} characters of well-formed Unicode`);
}
