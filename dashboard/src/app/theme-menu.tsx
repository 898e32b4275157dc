import { DesktopIcon, MoonIcon, SunIcon } from '@radix-ui/react-icons';
import { IconButton } from '../ui/button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { setTheme, type Theme, useTheme } from '../ui/theme.ts';

const ICONS = { light: <SunIcon />, dark: <MoonIcon />, system: <DesktopIcon /> };

export function ThemeMenu() {
  const { theme, seen } = useTheme();
  return (
    <Menu
      trigger={<IconButton icon={ICONS[seen]} label="Theme" />}
      aria-label="Theme"
      selectionMode="single"
      selectedKeys={[theme]}
      disallowEmptySelection
      onAction={(key) => setTheme(key as Theme)}
    >
      <MenuItem id="light" icon={ICONS.light}>
        Light
      </MenuItem>
      <MenuItem id="dark" icon={ICONS.dark}>
        Dark
      </MenuItem>
      <MenuItem id="system" icon={ICONS.system}>
        As the system
      </MenuItem>
    </Menu>
  );
}
