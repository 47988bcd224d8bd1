import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, refresh } from '../api/client.js';
import { FormFault } from '../ui/forms/form.js';
import { Hint } from '../ui/texts.js';
import { Notice } from '../ui/notice.js';
import { keepNewKey } from './new-key.js';

interface KeyProps {
  group: string;
  /** The code has a key that can run it. */
  isFilled: boolean;
}

/** A key is shown only when it is created, so people insert a saved one or create another here. */
export function KeyForCode({ group, isFilled }: KeyProps) {
  const { t } = useTranslation('calls');
  const creating = useNewKey(group);
  if (isFilled) return <Notice tone="warning">{t('play.keyOnce')}</Notice>;
  return (
    <Group gap="sm">
      <Hint>{t('play.codeHint')}</Hint>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => creating.mutate()}
        loading={creating.isPending}
        disabled={group === ''}
      >
        {t('play.codeKey')}
      </Button>
      <FormFault error={creating.error} />
    </Group>
  );
}

function useNewKey(group: string) {
  const { t } = useTranslation('calls');
  return useMutation({
    mutationFn: async () =>
      (await api.POST('/api/keys', { body: { name: t('play.codeKeyName'), group } })).data!,
    onSuccess: async ({ keyId, apiKey }) => {
      keepNewKey({ keyId, apiKey });
      await refresh('/api/keys');
    },
  });
}
