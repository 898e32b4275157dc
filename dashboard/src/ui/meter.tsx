import * as styles from './meter.module.css';

export interface MeterPart {
  readonly label: string;
  /** A share of the whole, from 0 to 1. */
  readonly share: number;
  readonly kind: 'spent' | 'held';
}

export interface MeterProps {
  /** For screen readers: "Credit of Load tests". */
  readonly label: string;
  /** In words: "PKR 800.00 of PKR 1,000.00". */
  readonly valueText: string;
  readonly parts: readonly MeterPart[];
  readonly size?: 's' | 'm';
}

/** How much of a limit is used: green, amber from 80 %, red from 100 %. What requests in flight hold is hatched. */
export function Meter({ label, valueText, parts, size = 's' }: MeterProps) {
  const used = parts.reduce((sum, { share }) => sum + Math.max(0, share), 0);
  const tone = used >= 1 ? 'bad' : used >= 0.8 ? 'warn' : 'good';
  return (
    // The element `meter` cannot show two parts, and React Aria's takes longer to make than the rest of a row of a table.
    // biome-ignore lint/a11y/useSemanticElements: see above
    <span
      role="meter"
      className={styles.meter}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.min(1, used) * 100}
      aria-valuetext={valueText}
      data-size={size}
      data-tone={tone}
    >
      <span className={styles.track}>
        {parts.map((part) => (
          <span
            key={part.label}
            className={styles.part}
            data-kind={part.kind}
            style={{ width: `${Math.min(1, Math.max(0, part.share)) * 100}%` }}
          />
        ))}
      </span>
    </span>
  );
}
