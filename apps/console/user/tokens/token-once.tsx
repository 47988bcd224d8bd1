import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyLine } from '../../ui/copy.js';
import { ButtonLink } from '../../ui/links.js';
import { Notice } from '../../ui/notice.js';

export interface MadeToken {
  keyId: string;
  name: string;
  apiKey: string;
}

/** Shows a new key once. It closes only when people say that they saved it. */
export function TokenOnce({ token, done }: { token: MadeToken | null; done: () => void }) {
  const { t } = useTranslation('tokens');
  return (
    <Modal
      opened={token !== null}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
      title={t('once.title', { name: token?.name ?? '' })}
    >
      {token && <Once token={token} done={done} />}
    </Modal>
  );
}

function Once({ token, done }: { token: MadeToken; done: () => void }) {
  const { t } = useTranslation('tokens');
  const [isStored, setStored] = useState(false);
  return (
    <Stack>
      <Notice tone="warning">{t('once.hint')}</Notice>
      <CopyLine value={token.apiKey} label={t('once.key')} />
      <Text size="sm">{t('once.next')}</Text>
      <Checkbox
        label={t('once.stored')}
        checked={isStored}
        onChange={({ currentTarget }) => setStored(currentTarget.checked)}
      />
      <Group justify="flex-end">
        {isStored && <Next keyId={token.keyId} />}
        <Button onClick={done} disabled={!isStored}>
          {t('once.done')}
        </Button>
      </Group>
    </Stack>
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
