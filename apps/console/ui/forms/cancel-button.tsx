import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export function CancelButton({ cancel }: { cancel: () => void }) {
  const { t } = useTranslation('shell');
  return (
    <Button variant="default" onClick={cancel}>
      {t('confirm.cancel')}
    </Button>
  );
}
