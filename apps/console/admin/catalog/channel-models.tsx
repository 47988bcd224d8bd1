import { ActionIcon, Fieldset, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Hint } from '../../ui/texts.js';
import { useModels } from '../catalog.js';
import type { ChannelValues } from './channel-values.js';

interface ChannelModelsProps {
  value?: ChannelValues['models'];
  onChange?: (models: ChannelValues['models']) => void;
  error?: ReactNode;
}

/** Maps our models to the upstream's names. The form passes value, onChange and error. */
export function ChannelModels({ value = [], onChange, error }: ChannelModelsProps) {
  const { t } = useTranslation('catalog');
  const rename = (ours: string, theirs: string) =>
    onChange?.(value.map((each) => (each.ours === ours ? { ours, theirs } : each)));
  return (
    <Fieldset legend={t('channel.models')}>
      <Stack gap="xs">
        <Hint>{t('channel.modelsHint')}</Hint>
        {error && <Fault>{error}</Fault>}
        {value.map((names) => (
          <OfferedModel
            key={names.ours}
            {...names}
            rename={(theirs) => rename(names.ours, theirs)}
            remove={() => onChange?.(value.filter(({ ours }) => ours !== names.ours))}
          />
        ))}
        <AddModel value={value} add={(model) => onChange?.([...value, { ours: model, theirs: model }])} />
      </Stack>
    </Fieldset>
  );
}

function Fault({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="var(--colour-fault)" role="alert">
      {children}
    </Text>
  );
}

function AddModel({ value, add }: { value: ChannelValues['models']; add: (model: string) => void }) {
  const { t } = useTranslation('catalog');
  const models = useModels().data ?? [];
  const rest = models.filter(({ id }) => !value.some(({ ours }) => ours === id)).map(({ id }) => id);
  return (
    <Select
      label={t('channel.addModel')}
      placeholder={t('channel.chooseModel')}
      data={rest}
      searchable
      value={null}
      onChange={(model) => model && add(model)}
    />
  );
}

interface OfferedModelProps {
  ours: string;
  theirs: string;
  rename: (theirs: string) => void;
  remove: () => void;
}

function OfferedModel({ ours, theirs, rename, remove }: OfferedModelProps) {
  const { t } = useTranslation('catalog');
  return (
    <Group gap="xs" wrap="nowrap" className="named-line">
      <Text size="sm" className="model-name">
        {ours}
      </Text>
      <TextInput
        aria-label={t('channel.theirName', { model: ours })}
        flex={1}
        value={theirs}
        onChange={({ currentTarget }) => rename(currentTarget.value)}
      />
      <ActionIcon
        variant="default"
        size="input-sm"
        aria-label={t('channel.removeModel', { model: ours })}
        onClick={remove}
      >
        <IconX size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
