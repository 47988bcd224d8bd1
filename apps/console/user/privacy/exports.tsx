import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { column, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { FormFault } from '../../ui/forms/form.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { saveFile } from '../../ui/save-file.js';
import { When } from '../../ui/time/when.js';
import { useCurrentPassword } from '../account/current-password.js';

const REREAD_MS = 3_000;

/** By then the browser has started to save the file. */
const SAVED_MS = 60_000;

/** Archives are made in the background and can be downloaded for a while. */
export function Exports() {
  const { t } = useTranslation('privacy');
  const columns = useColumns();
  const exports = useRead(
    '/api/data-exports',
    {},
    {
      refetchInterval: ({ state }) => (state.data?.items.some(isWaited) ? REREAD_MS : false),
    },
  );
  return (
    <Stack gap="sm">
      <Text size="sm">{t('exports.about')}</Text>
      <Group>
        <RequestForm />
      </Group>
      {(exports.data?.items.length ?? 0) > 0 && (
        <DataList
          query={exports}
          columns={columns}
          empty={{ title: t('exports.title'), hint: t('exports.about') }}
        />
      )}
    </Stack>
  );
}

function isWaited({ state }: Shape<'DataExport'>): boolean {
  return state === 'requested' || state === 'running';
}

function useColumns(): ListColumn<Shape<'DataExport'>>[] {
  const { t } = useTranslation('privacy');
  return [
    timeColumn('requestedAt', t('exports.asked')),
    column('state', t('exports.state'), ({ state, failure }) =>
      t(failure === null ? `exports.states.${state}` : `exports.failures.${failure}`),
    ),
    column('until', t('exports.until'), ({ state, expiresAt }) =>
      state === 'ready' && expiresAt ? <When at={expiresAt} /> : '–',
    ),
    rightColumn(
      'file',
      t('exports.file'),
      ({ id, state }) => state === 'ready' && <Download exportId={id} />,
    ),
  ];
}

/** Not a link: the server asks for confirmation first. */
function Download({ exportId }: { exportId: string }) {
  const { t } = useTranslation('privacy');
  const download = useMutation({ mutationFn: () => saveArchive(exportId) });
  return (
    <Stack gap="xs" align="flex-end">
      <Button variant="default" size="xs" loading={download.isPending} onClick={() => download.mutate()}>
        {t('exports.download')}
      </Button>
      <FormFault error={download.error} />
    </Stack>
  );
}

async function saveArchive(exportId: string): Promise<void> {
  const params = { path: { exportId } };
  const { data } = await api.GET('/api/data-exports/{exportId}/archive', { params, parseAs: 'blob' });
  const address = URL.createObjectURL(data as Blob);
  saveFile(address, `export-${exportId}.zip`);
  setTimeout(() => URL.revokeObjectURL(address), SAVED_MS);
}

function RequestForm() {
  const { t } = useTranslation('privacy');
  return (
    <ModalForm
      texts={t('exports.request')}
      fields={{ password: useCurrentPassword({ isFirst: true }) }}
      send={(body) => api.POST('/api/data-exports', { body })}
      done={() => refresh('/api/data-exports')}
    />
  );
}
