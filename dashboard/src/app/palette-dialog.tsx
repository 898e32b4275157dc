import {
  CubeIcon,
  ExitIcon,
  LockClosedIcon,
  MagnifyingGlassIcon,
  MoonIcon,
  ReaderIcon,
  SunIcon,
} from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Input } from 'react-aria-components/Input';
import { Header, Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { SearchField } from 'react-aria-components/SearchField';
import { apiCall, queryOf } from '../api/call.ts';
import { setTheme, useTheme } from '../ui/theme.ts';
import { navigation } from './navigation.ts';
import * as styles from './palette-dialog.module.css';
import { signOut } from './session.ts';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly words: string;
  readonly icon: ComponentType;
  readonly run: () => unknown;
}

/** As many of one kind as a list can show before typing narrows it. */
const MOST = 200;

export function PaletteDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const sections = useCommands(isOpen);
  const commands = new Map(sections.flatMap(({ items }) => items.map((item) => [item.id, item])));
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => (open ? undefined : onClose())}
      isDismissable
      className={styles.overlay}
    >
      <Modal className={styles.modal}>
        <Dialog className={styles.dialog} aria-label="Commands">
          <Autocomplete filter={(text, typed) => typed.split(/\s+/).every((word) => contains(text, word))}>
            <SearchField aria-label="Go to a page, key or model" autoFocus className={styles.search}>
              <MagnifyingGlassIcon aria-hidden="true" />
              <Input className={styles.input} placeholder="Go to a page, key or model, or do something" />
            </SearchField>
            {/* The focus stays in the field; the list is focusable so that it can be scrolled by the keyboard as well. */}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
            <section className={styles.list} tabIndex={0} aria-label="List of commands">
              <Menu
                className={styles.menu}
                aria-label="Commands"
                renderEmptyState={() => <p className={styles.empty}>Nothing is called that.</p>}
                onAction={(id) => {
                  onClose();
                  void commands.get(String(id))?.run();
                }}
              >
                {sections.map(({ title, items }) => (
                  <MenuSection key={title} id={title} aria-label={title}>
                    <Header className={styles.header}>{title}</Header>
                    {items.map((item) => (
                      <CommandItem key={item.id} command={item} />
                    ))}
                  </MenuSection>
                ))}
              </Menu>
            </section>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function CommandItem({ command }: { command: Command }): ReactNode {
  const { id, label, detail, words, icon: Icon } = command;
  return (
    <MenuItem id={id} textValue={`${label} ${words}`} className={styles.item}>
      <Icon />
      <bdi className={styles.label}>{label}</bdi>
      {detail === undefined ? undefined : <bdi className={styles.detail}>{detail}</bdi>}
    </MenuItem>
  );
}

function useCommands(isOpen: boolean): readonly { title: string; items: readonly Command[] }[] {
  const navigate = useNavigate();
  const { seen } = useTheme();
  const keys = useQuery({ ...queryOf(apiCall('listKeys', {})), enabled: isOpen, staleTime: 60_000 });
  const routes = useQuery({ ...queryOf(apiCall('listRoutes', {})), enabled: isOpen, staleTime: 300_000 });
  const pages: Command[] = navigation.flatMap(({ title, items }) =>
    items.map(({ to, label, icon, words = '' }) => ({
      id: `page ${to}`,
      label,
      words: `${title} ${words}`,
      icon,
      run: () => navigate({ to }),
    })),
  );
  const actions: Command[] = [
    seen === 'dark'
      ? {
          id: 'theme light',
          label: 'Light theme',
          words: 'appearance',
          icon: SunIcon,
          run: () => setTheme('light'),
        }
      : {
          id: 'theme dark',
          label: 'Dark theme',
          words: 'appearance',
          icon: MoonIcon,
          run: () => setTheme('dark'),
        },
    {
      id: 'reference',
      label: 'API reference',
      words: 'openapi endpoints documentation',
      icon: ReaderIcon,
      run: () => location.assign('/reference'),
    },
    { id: 'sign-out', label: 'Sign out', words: 'log out leave', icon: ExitIcon, run: () => signOut() },
  ];
  const ofKeys: Command[] = (keys.data?.keys ?? []).slice(0, MOST).map(({ id, name, key_prefix }) => ({
    id: `key ${id}`,
    label: name,
    detail: key_prefix,
    words: `${key_prefix} key`,
    icon: LockClosedIcon,
    run: () => navigate({ to: '/', search: { key: id } }),
  }));
  const ofModels: Command[] = (routes.data?.routes ?? []).slice(0, MOST).map(({ id, provider, aliases }) => ({
    id: `model ${id}`,
    label: id,
    words: `${provider} ${aliases.join(' ')} model route`,
    icon: CubeIcon,
    run: () => navigate({ to: '/', search: { model: id } }),
  }));
  return [
    { title: 'Pages', items: pages },
    { title: 'Actions', items: actions },
    { title: 'Keys', items: ofKeys },
    { title: 'Models', items: ofModels },
  ].filter(({ items }) => items.length > 0);
}
