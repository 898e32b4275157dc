import { CheckIcon, ChevronDownIcon, Cross2Icon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useState } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { SearchField } from 'react-aria-components/SearchField';
import * as styles from './filter-select.module.css';
import * as optionStyles from './option.module.css';

export interface FilterOption {
  readonly value: string;
  readonly label: string;
  readonly detail?: string | undefined;
}

export interface FilterSelectProps {
  /** The name of the filter: "Model". */
  readonly label: string;
  readonly options: readonly FilterOption[];
  /** Undefined: all. A value that is no option, such as that of a revoked key, is shown as it is. */
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  /** Before the list is shown, for options that are loaded only then. */
  readonly onOpen?: () => void;
}

/** More than this get a search field. */
const FEW = 8;

/** A filter as a pill: "Model", or "Model: openai/gpt-5-mini ✕". */
export function FilterSelect({ label, options, value, onChange, onOpen }: FilterSelectProps) {
  const [isOpen, setOpen] = useState(false);
  const { contains } = useFilter({ sensitivity: 'base' });
  const chosen = options.find((option) => option.value === value)?.label ?? value;
  const list = (
    <ListBox
      className={styles.list}
      aria-label={label}
      items={options}
      selectionMode="single"
      selectedKeys={value === undefined ? [] : [value]}
      renderEmptyState={() => <p className={styles.empty}>None.</p>}
      onAction={(key) => {
        setOpen(false);
        onChange(key === value ? undefined : String(key));
      }}
    >
      {(option) => (
        <ListBoxItem
          id={option.value}
          textValue={`${option.label} ${option.detail ?? ''}`}
          className={optionStyles.item}
        >
          <bdi className={optionStyles.text}>{option.label}</bdi>
          {option.detail === undefined ? undefined : <bdi className={styles.detail}>{option.detail}</bdi>}
          <CheckIcon className={optionStyles.check} aria-hidden="true" />
        </ListBoxItem>
      )}
    </ListBox>
  );
  return (
    <span className={styles.pill} data-chosen={value !== undefined || undefined}>
      <DialogTrigger
        isOpen={isOpen}
        onOpenChange={(next) => {
          if (next) onOpen?.();
          setOpen(next);
        }}
      >
        <Button
          className={styles.trigger}
          aria-label={chosen === undefined ? `Filter by ${label}` : `${label}: ${chosen}`}
        >
          <span>{chosen === undefined ? label : `${label}: `}</span>
          {chosen === undefined ? undefined : <bdi className={styles.value}>{chosen}</bdi>}
          {value === undefined ? <ChevronDownIcon aria-hidden="true" /> : undefined}
        </Button>
        <Popover className={styles.popover} offset={5} placement="bottom start">
          <Dialog className={styles.dialog} aria-label={`Filter by ${label}`}>
            {options.length > FEW ? (
              <Autocomplete filter={contains}>
                <SearchField className={styles.search} aria-label={`Search ${label}`} autoFocus>
                  <MagnifyingGlassIcon aria-hidden="true" />
                  <Input className={styles.input} placeholder="Search" />
                </SearchField>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
                <section className={styles.scroll} tabIndex={0} aria-label={`Values of ${label}`}>
                  {list}
                </section>
              </Autocomplete>
            ) : (
              list
            )}
          </Dialog>
        </Popover>
      </DialogTrigger>
      {value === undefined ? undefined : (
        <Button
          className={styles.clear}
          aria-label={`Clear the filter by ${label}`}
          onPress={() => onChange(undefined)}
        >
          <Cross2Icon />
        </Button>
      )}
    </span>
  );
}
