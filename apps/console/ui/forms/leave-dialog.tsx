import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog.js';

interface LeaveDialogProps {
  about?: string | undefined;
  stay: () => void;
  leave: () => void;
}

export default function LeaveDialog({ about, stay, leave }: LeaveDialogProps) {
  const { t } = useTranslation('shell');
  const [before] = useState(() => document.activeElement);
  const goOn = () => {
    stay();
    if (before instanceof HTMLElement) before.focus();
  };
  return (
    <Dialog opened onClose={goOn} title={t('leave.title')} zIndex={300}>
      <Stack>
        <Text>{about ?? t('leave.about')}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={leave}>
            {t('leave.leave')}
          </Button>
          <Button onClick={goOn} data-autofocus>
            {t('leave.stay')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
