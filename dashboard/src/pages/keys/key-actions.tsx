import { LightningBoltIcon, ListBulletIcon, Pencil1Icon, TrashIcon, UpdateIcon } from '@radix-ui/react-icons';
import { useNavigate } from '@tanstack/react-router';
import { MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { RowMenu } from '../../ui/row-menu.tsx';
import { requestsOf } from '../requests-link.ts';
import type { KeyRow } from './use-keys.ts';

export type KeyAction = 'edit' | 'connect' | 'rotate' | 'revoke';

/** The menu of actions on a key. */
export function KeyMenu({ row, onAction }: { row: KeyRow; onAction: (action: KeyAction) => void }) {
  const navigate = useNavigate();
  return (
    <RowMenu label={`Actions of ${row.name}`}>
      <MenuItem icon={<Pencil1Icon />} onAction={() => onAction('edit')}>
        Edit limits
      </MenuItem>
      <MenuItem icon={<LightningBoltIcon />} onAction={() => onAction('connect')}>
        Connect a client
      </MenuItem>
      <MenuItem icon={<ListBulletIcon />} onAction={() => void navigate(requestsOf({ key: row.id }))}>
        Show its requests
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<UpdateIcon />} onAction={() => onAction('rotate')}>
        Rotate
      </MenuItem>
      <MenuItem icon={<TrashIcon />} isDangerous onAction={() => onAction('revoke')}>
        Revoke
      </MenuItem>
    </RowMenu>
  );
}
