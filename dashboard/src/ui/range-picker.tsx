import { CalendarIcon, ChevronDownIcon } from '@radix-ui/react-icons';
import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { now } from '../browser/clock.ts';
import { PRESETS, type TimeRange } from '../format/range.ts';
import { rangeLabel } from '../format/range-label.ts';
import { viewerZone, zoneLabel } from '../format/zone.ts';
import * as styles from './range-picker.module.css';
import { Skeleton } from './skeleton.tsx';

const FixedRange = lazy(async () => ({ default: (await import('./fixed-range.tsx')).FixedRange }));

export interface RangePickerProps {
  readonly range: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}

/** The window of a page: back from now, or from one day and hour to another, in the viewer's zone. */
export function RangePicker({ range, onChange }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const at = now();
  const pick = (next: TimeRange) => {
    setOpen(false);
    onChange(next);
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button className={styles.trigger} aria-label={`Time range: ${rangeLabel(range, at)}`}>
        <CalendarIcon aria-hidden="true" />
        <span className={styles.label}>{rangeLabel(range, at)}</span>
        <ChevronDownIcon aria-hidden="true" />
      </Button>
      <Popover className={styles.popover} placement="bottom end" offset={6}>
        <Dialog className={styles.dialog} aria-label="Time range">
          <ul className={styles.presets}>
            {PRESETS.map(({ text, label }) => (
              <li key={text}>
                <Button
                  className={styles.preset}
                  aria-pressed={range.kind === 'relative' && range.text === text}
                  onPress={() => pick({ kind: 'relative', text })}
                >
                  {label}
                </Button>
              </li>
            ))}
          </ul>
          <div className={styles.fixed}>
            <Suspense fallback={<Skeleton width={252} height={330} />}>
              <FixedRange range={range} onApply={pick} />
            </Suspense>
            <p className={styles.zone}>Days and hours of {zoneLabel(viewerZone, at)}.</p>
          </div>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
