import { Button, Stack } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface AdvancedProps {
  /** One of the fields is at fault: it is shown, whatever was chosen. */
  isAtFault: boolean;
  /** One of them has a value already: they are shown at first. */
  isFilled?: boolean;
  children: ReactNode;
}

/** Fields that most people leave as they are. What was typed in them stays while they are hidden. */
export function Advanced({ isAtFault, isFilled = false, children }: AdvancedProps) {
  const { t } = useTranslation('shell');
  const [isOpen, open] = useState(isFilled);
  // It stays open while the fault is mended: the field that is typed in must not go with its first letter.
  if (isAtFault && !isOpen) open(true);
  const Icon = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        w="fit-content"
        leftSection={<Icon size={16} aria-hidden />}
        aria-expanded={isOpen}
        onClick={() => open(!isOpen)}
      >
        {t('advanced')}
      </Button>
      {isOpen && <Stack>{children}</Stack>}
    </>
  );
}
