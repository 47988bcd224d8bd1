import { ActionIcon, type ActionIconProps } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import type { ComponentProps } from 'react';

export interface HeaderButtonProps
  extends ActionIconProps, Omit<ComponentProps<'button'>, keyof ActionIconProps> {
  /** For screen readers. */
  label: string;
  icon: Icon;
}

export function HeaderButton({ label, icon: Icon, ...button }: HeaderButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} {...button}>
      <Icon size={20} aria-hidden />
    </ActionIcon>
  );
}
