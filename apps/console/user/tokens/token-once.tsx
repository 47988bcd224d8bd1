import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyLine } from '../../ui/copy.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { ShownOnce } from '../../ui/forms/shown-once.js';
import { ButtonLink } from '../../ui/links.js';

export interface MadeToken {
  keyId: string;
  name: string;
  apiKey: string;
}

export function TokenOnce({ token, done }: { token: MadeToken | null; done: () => void }) {
  const { t } = useTranslation('tokens');
  return (
    <Dialog
      opened={token !== null}
      onClose={done}
      withCloseButton={false}
      size="lg"
      title={t('once.title', { name: token?.name ?? '' })}
    >
      {token && (
        <ShownOnce hint={t('once.hint')} next={<Next keyId={token.keyId} />} done={done}>
          <CopyLine value={token.apiKey} label={t('once.key')} />
          <Text size="sm">{t('once.next')}</Text>
        </ShownOnce>
      )}
    </Dialog>
  );
}

function Next({ keyId }: { keyId: string }) {
  const { t } = useTranslation('tokens');
  return (
    <>
      <ButtonLink to="/playground" search={{ key: keyId }} variant="default">
        {t('once.try')}
      </ButtonLink>
      <ButtonLink to="/connect" variant="default">
        {t('once.code')}
      </ButtonLink>
    </>
  );
}
