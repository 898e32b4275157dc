import { CheckIcon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { SearchField } from 'react-aria-components/SearchField';
import { plural } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import * as styles from './keys.module.css';

export interface ModelOption {
  readonly id: string;
  readonly provider: string;
  readonly aliases: readonly string[];
}

/** Some models of the catalogue, with search over ids, aliases and providers. */
export function ModelPicker({
  options,
  chosen,
  onChange,
}: {
  options: readonly ModelOption[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const { contains } = useFilter({ sensitivity: 'base' });
  return (
    <div className={styles.picker}>
      <Autocomplete filter={contains} disableVirtualFocus>
        <SearchField className={styles.pickerSearch} aria-label="Search models">
          <MagnifyingGlassIcon aria-hidden="true" />
          <Input className={styles.pickerInput} placeholder="Search models" />
        </SearchField>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
        <section className={styles.pickerScroll} tabIndex={0} aria-label="Models of the catalogue">
          <ListBox
            className={styles.pickerList}
            aria-label="Models"
            items={options}
            selectionMode="multiple"
            selectedKeys={chosen}
            onSelectionChange={(keys) =>
              onChange(keys === 'all' ? new Set(options.map(({ id }) => id)) : new Set([...keys].map(String)))
            }
            renderEmptyState={() => <p className={styles.pickerItem}>No such model.</p>}
          >
            {({ id, provider, aliases }) => (
              <ListBoxItem
                id={id}
                textValue={[id, ...aliases, provider].join(' ')}
                className={styles.pickerItem}
              >
                <span className={styles.box} aria-hidden="true">
                  <CheckIcon />
                </span>
                <bdi className={styles.pickerText}>{id}</bdi>
                <bdi className={styles.pickerDetail}>{provider}</bdi>
              </ListBoxItem>
            )}
          </ListBox>
        </section>
      </Autocomplete>
      <div className={styles.pickerFooter}>
        <span role="status">
          {chosen.size === 0 ? 'None chosen' : `${plural(chosen.size, 'model')} chosen`}
        </span>
        {chosen.size === 0 ? undefined : (
          <Button size="s" variant="quiet" onPress={() => onChange(new Set())}>
            Clear
          </Button>
        )}
      </div>
    </div>
  );
}
