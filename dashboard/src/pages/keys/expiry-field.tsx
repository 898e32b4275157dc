import { dateTime } from '../../format/time.ts';
import { viewerZone } from '../../format/zone.ts';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { EXPIRY_OPTIONS, type Expiry, type ExpiryChoice } from './expiry.ts';
import * as styles from './keys.module.css';

export interface ExpiryFieldProps {
  readonly choice: ExpiryChoice;
  readonly date: string;
  readonly onChange: (choice: ExpiryChoice, date: string) => void;
  /** The expiry that the two fields mean. */
  readonly expiry: Expiry;
  /** The expiry that the key has, where it can be kept. */
  readonly kept?: string | undefined;
  /** True if a problem is said: not before the first attempt. */
  readonly isJudged: boolean;
}

/** When the key expires: a few usual times, or a date in the viewer's zone. */
export function ExpiryField({ choice, date, onChange, expiry, kept, isJudged }: ExpiryFieldProps) {
  const keep =
    kept === undefined ? [] : [{ value: 'keep' as const, label: `As it is: ${dateTime(new Date(kept))}` }];
  return (
    <div className={styles.group}>
      <Select
        label="Expires"
        options={[...keep, ...EXPIRY_OPTIONS]}
        value={choice}
        onChange={(next) => onChange(next, date)}
        hint={
          choice !== 'date' && choice !== 'keep' && expiry.kind === 'at'
            ? dateTime(expiry.at)
            : 'The gateway refuses an expired key.'
        }
      />
      {choice === 'date' ? (
        <TextField
          label={`Date and time (${viewerZone})`}
          type="datetime-local"
          value={date}
          onChange={(next) => onChange(choice, next)}
          error={isJudged && expiry.kind === 'problem' ? expiry.sentence : undefined}
        />
      ) : undefined}
    </div>
  );
}
