import {
  type CalendarDate,
  parseAbsolute,
  toCalendarDate,
  toCalendarDateTime,
} from '@internationalized/date';
import { ChevronLeftIcon, ChevronRightIcon } from '@radix-ui/react-icons';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { DateField, DateInput, DateSegment } from 'react-aria-components/DateField';
import { Heading } from 'react-aria-components/Heading';
import { Label } from 'react-aria-components/Label';
import {
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
  RangeCalendar,
} from 'react-aria-components/RangeCalendar';
import { now } from '../browser/clock.ts';
import { rangeBounds, type TimeRange } from '../format/range.ts';
import { viewerZone } from '../format/zone.ts';
import { Button } from './button.tsx';
import * as field from './field.module.css';
import * as styles from './fixed-range.module.css';

/** A calendar for whole days, and two fields for hours and minutes. */
export function FixedRange({ range, onApply }: { range: TimeRange; onApply: (range: TimeRange) => void }) {
  const zone = viewerZone;
  const [bounds] = useState(() => rangeBounds(range, now().getTime()));
  const [from, setFrom] = useState(() =>
    toCalendarDateTime(parseAbsolute(new Date(bounds.fromMs).toISOString(), zone)).set({
      second: 0,
      millisecond: 0,
    }),
  );
  const [to, setTo] = useState(() =>
    toCalendarDateTime(parseAbsolute(new Date(bounds.toMs).toISOString(), zone)).set({
      second: 0,
      millisecond: 0,
    }),
  );
  const isValid = from.compare(to) < 0;
  const pickDays = (start: CalendarDate, end: CalendarDate) => {
    setFrom(toCalendarDateTime(start));
    // The end of a window is exclusive: midnight after the last day.
    setTo(toCalendarDateTime(end.add({ days: 1 })));
  };
  const lastDay = to.hour === 0 && to.minute === 0 ? to.subtract({ minutes: 1 }) : to;
  return (
    <>
      <RangeCalendar
        aria-label="Days"
        className={styles.calendar}
        maxValue={toCalendarDate(parseAbsolute(now().toISOString(), zone))}
        value={isValid ? { start: toCalendarDate(from), end: toCalendarDate(lastDay) } : null}
        onChange={({ start, end }) => pickDays(toCalendarDate(start), toCalendarDate(end))}
        defaultFocusedValue={toCalendarDate(lastDay)}
      >
        <header className={styles.header}>
          <AriaButton slot="previous" className={styles.step}>
            <ChevronLeftIcon />
          </AriaButton>
          <Heading className={styles.month} />
          <AriaButton slot="next" className={styles.step}>
            <ChevronRightIcon />
          </AriaButton>
        </header>
        <CalendarGrid className={styles.grid}>
          <CalendarGridHeader>
            {(name) => <CalendarHeaderCell className={styles.weekday}>{name}</CalendarHeaderCell>}
          </CalendarGridHeader>
          <CalendarGridBody>
            {(date) => <CalendarCell date={date} className={styles.cell} />}
          </CalendarGridBody>
        </CalendarGrid>
      </RangeCalendar>
      <div className={styles.fields}>
        <DateField
          className={field.field}
          granularity="minute"
          hourCycle={24}
          value={from}
          onChange={(value) => value && setFrom(value)}
        >
          <Label className={field.label}>From</Label>
          <DateInput className={styles.input}>
            {(segment) => <DateSegment segment={segment} className={styles.segment} />}
          </DateInput>
        </DateField>
        <DateField
          className={field.field}
          granularity="minute"
          hourCycle={24}
          value={to}
          onChange={(value) => value && setTo(value)}
        >
          <Label className={field.label}>To, exclusive</Label>
          <DateInput className={styles.input}>
            {(segment) => <DateSegment segment={segment} className={styles.segment} />}
          </DateInput>
        </DateField>
      </div>
      <Button
        variant="primary"
        size="s"
        disabledReason={isValid ? undefined : 'The end must be after the start.'}
        onPress={() =>
          onApply({ kind: 'fixed', from: from.toDate(zone).toISOString(), to: to.toDate(zone).toISOString() })
        }
      >
        Apply
      </Button>
    </>
  );
}
