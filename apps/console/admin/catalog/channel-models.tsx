import { ActionIcon, Fieldset, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Hint } from '../../ui/texts.js';
import { useModels } from '../catalog.js';
import type { ChannelFormState } from './channel-values.js';

/** Our models that the upstream serves, and what it calls each. */
export function ChannelModels({ form }: { form: ChannelFormState }) {
  const { t } = useTranslation('catalog');
  const models = useModels().data ?? [];
  const { models: chosen } = form.values;
  const rest = models.filter(({ id }) => !chosen.some(({ ours }) => ours === id)).map(({ id }) => id);
  return (
    <Fieldset legend={t('channel.models')}>
      <Stack gap="xs">
        <Hint>{t('channel.modelsHint')}</Hint>
        {form.errors['models'] && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {form.errors['models']}
          </Text>
        )}
        {chosen.map(({ ours }, index) => (
          <Group key={ours} gap="xs" align="flex-end" wrap="nowrap">
            <TextInput
              label={ours}
              aria-label={t('channel.theirName', { model: ours })}
              flex={1}
              {...form.getInputProps(`models.${index}.theirs`)}
            />
            <ActionIcon
              variant="default"
              size="input-sm"
              aria-label={t('channel.removeModel', { model: ours })}
              onClick={() => form.removeListItem('models', index)}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Select
          label={t('channel.addModel')}
          placeholder={t('channel.chooseModel')}
          data={rest}
          searchable
          value={null}
          onChange={(model) => model && form.insertListItem('models', { ours: model, theirs: model })}
        />
      </Stack>
    </Fieldset>
  );
}
