import { Button, Paper } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { FormFault } from '../../ui/forms/form.js';
import { EmptyState } from '../../ui/states.js';

/** Calls need a key. The playground can use this one without showing it. */
export function MakeKey({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('calls');
  const own = useRead('/api/groups').data?.groups ?? [];
  const group = model.groups.find((each) => own.includes(each.group))?.group ?? '';
  const making = useMutation({
    mutationFn: () => api.POST('/api/keys', { body: { name: t('play.keyName'), group } }),
    onSuccess: () => refresh('/api/keys'),
  });
  return (
    <Paper withBorder>
      <EmptyState
        title={t('play.noKey', { model: model.id })}
        hint={t('play.noKeyHint', { group })}
        action={
          <>
            <Button onClick={() => making.mutate()} loading={making.isPending} disabled={group === ''}>
              {t('play.makeKey')}
            </Button>
            <FormFault error={making.error} />
          </>
        }
      />
    </Paper>
  );
}
