import { Button, Stack } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface AdvancedProps {
  /** A field has an error, so the fields are shown. */
  isAtFault: boolean;
  /** A field has a value already, so the fields are shown at first. */
  isFilled?: boolean;
  children: ReactNode;
}

/** Fields that most people do not change. They keep their values while hidden. */
export function Advanced({ isAtFault, isFilled = false, children }: AdvancedProps) {
  const { t } = useTranslation('shell');
  const [isOpen, open] = useState(isFilled);
  // It stays open while people fix the error, or the field would vanish at the first letter.
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
