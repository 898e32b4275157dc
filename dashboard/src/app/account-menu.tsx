import { ExitIcon, ReaderIcon } from '@radix-ui/react-icons';
import { Button } from 'react-aria-components/Button';
import { MenuSection as AriaMenuSection, Header } from 'react-aria-components/Menu';
import { Menu, MenuItem } from '../ui/menu.tsx';
import * as styles from './account-menu.module.css';
import { signOut, useAccount } from './session.ts';

export function AccountMenu() {
  const { user, organization } = useAccount();
  return (
    <Menu
      trigger={
        <Button className={styles.avatar} aria-label={`Account: ${user.email}`}>
          {user.email.slice(0, 1).toUpperCase()}
        </Button>
      }
      aria-label="Account"
      onAction={(key) => {
        if (key === 'sign-out') void signOut();
        if (key === 'reference') location.assign('/reference');
      }}
    >
      <AriaMenuSection>
        <Header className={styles.who}>
          <bdi className={styles.email}>{user.email}</bdi>
          <span className={styles.role}>
            {user.role} of <bdi>{organization.name}</bdi>
          </span>
        </Header>
        <MenuItem id="reference" icon={<ReaderIcon />}>
          API reference
        </MenuItem>
        <MenuItem id="sign-out" icon={<ExitIcon />}>
          Sign out
        </MenuItem>
      </AriaMenuSection>
    </Menu>
  );
}
