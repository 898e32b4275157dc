import { useEffect, useId, useRef, useState } from 'react';
import { readAmount } from '../../format/amount-text.ts';
import * as styles from './requests-page.module.css';

const PAUSE_MS = 400;

/** The typed cost as the URL has it: a plain decimal, or nothing. Undefined for what is no amount. */
function costOf(typed: string): string | undefined {
  if (typed.trim() === '') return '';
  const amount = readAmount(typed);
  return amount.kind === 'decimal' ? amount.decimal : undefined;
}

/** The lowest cost that is listed, taken after a pause in typing. */
export function LowestCost({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const [sentence, setSentence] = useState<string>();
  const sentenceId = useId();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The same amount stays as it was typed.
  useEffect(() => setTyped((before) => (costOf(before) === value ? before : value)), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (text: string) => {
    const cost = costOf(text);
    const amount = readAmount(text);
    setSentence(cost === undefined && amount.kind === 'problem' ? amount.sentence : undefined);
    if (cost !== undefined) onChange(cost);
  };
  return (
    <>
      <label className={styles.cost}>
        Cost from
        <input
          className={styles.costInput}
          inputMode="decimal"
          placeholder="0.00"
          aria-label="Cost from, in PKR"
          aria-invalid={sentence !== undefined}
          aria-describedby={sentence === undefined ? undefined : sentenceId}
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setSentence(undefined);
            clearTimeout(timer.current);
            timer.current = setTimeout(() => take(target.value), PAUSE_MS);
          }}
        />
        PKR
      </label>
      <span id={sentenceId} className={styles.costProblem} role="status">
        {sentence}
      </span>
    </>
  );
}
