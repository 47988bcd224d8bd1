import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog.js';

export default function LeaveDialog({ stay, leave }: { stay: () => void; leave: () => void }) {
  const { t } = useTranslation('shell');
  return (
    <Dialog opened onClose={stay} title={t('leave.title')} zIndex={300}>
      <Stack>
        <Text>{t('leave.about')}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={leave}>
            {t('leave.leave')}
          </Button>
          <Button onClick={stay} data-autofocus>
            {t('leave.stay')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
