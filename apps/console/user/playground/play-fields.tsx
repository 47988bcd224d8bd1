import {
  Autocomplete,
  FileInput,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Switch,
  Textarea,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { isPricedBySound, type PlayKind, type PlayValues } from './call.js';

/** Common values for models without limits. */
const USUAL_SIZES = ['1024x1024', '1536x1024', '1024x1536'];
const USUAL_RATIOS = ['16:9', '9:16', '1:1'];
const VOICES = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];
const MOST_SECONDS = 15;

interface FieldsProps {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  form: UseFormReturnType<PlayValues>;
}

export function PlayFields({ kind, model, form }: FieldsProps) {
  const { t } = useTranslation('calls');
  const isImage = kind === 'image' || kind === 'edit';
  return (
    <>
      {kind === 'edit' && <ImageFile form={form} />}
      <Textarea
        label={t(`play.prompts.${kind}`)}
        autosize
        minRows={3}
        maxRows={12}
        required
        {...form.getInputProps('prompt')}
      />
      {isImage && <ImageFields model={model} form={form} />}
      {kind === 'video' && <VideoFields model={model} form={form} />}
      {kind === 'video' && isPricedBySound(model) && <Sound form={form} />}
      {kind === 'speech' && (
        <Autocomplete label={t('play.fields.voice')} data={VOICES} {...form.getInputProps('voice')} />
      )}
    </>
  );
}

function ImageFile({ form }: Pick<FieldsProps, 'form'>) {
  const { t } = useTranslation('calls');
  return (
    <FileInput
      label={t('play.fields.image')}
      placeholder={t('play.fields.imageHint')}
      accept="image/png,image/jpeg,image/webp"
      required
      clearable
      clearButtonProps={{ 'aria-label': t('play.fields.imageClear') }}
      {...form.getInputProps('image')}
    />
  );
}

function Sound({ form }: Pick<FieldsProps, 'form'>) {
  const { t } = useTranslation('calls');
  return (
    <Switch label={t('play.fields.audio')} {...form.getInputProps('generate_audio', { type: 'checkbox' })} />
  );
}

function ImageFields({ model, form }: Omit<FieldsProps, 'kind'>) {
  const { t } = useTranslation('calls');
  const { maxImages = 1, sizes } = model.limits;
  return (
    <Group grow align="flex-start">
      <NumberInput
        label={t('play.fields.n')}
        description={t('play.fields.nHint', { most: maxImages })}
        min={1}
        max={maxImages}
        allowDecimal={false}
        {...form.getInputProps('n')}
      />
      <Autocomplete
        label={t('play.fields.size')}
        description={t('play.fields.mayStayOpen')}
        placeholder={t('play.fields.open')}
        data={sizes ? [...sizes] : USUAL_SIZES}
        {...form.getInputProps('size')}
      />
    </Group>
  );
}

function VideoFields({ model, form }: Omit<FieldsProps, 'kind'>) {
  const { t } = useTranslation('calls');
  const { minSeconds = 1, maxSeconds = MOST_SECONDS, resolutions, aspectRatios } = model.limits;
  return (
    <SimpleGrid cols={{ base: 2, md: resolutions?.length ? 3 : 2 }} spacing="sm">
      <NumberInput
        label={t('play.fields.seconds')}
        description={t('play.fields.secondsHint', { least: minSeconds, most: maxSeconds })}
        min={minSeconds}
        max={maxSeconds}
        allowDecimal={false}
        {...form.getInputProps('seconds')}
      />
      {resolutions && resolutions.length > 0 && (
        <OpenChoice form={form} name="resolution" label={t('play.fields.resolution')} data={resolutions} />
      )}
      <OpenChoice
        form={form}
        name="aspect_ratio"
        label={t('play.fields.aspectRatio')}
        data={aspectRatios ?? USUAL_RATIOS}
      />
    </SimpleGrid>
  );
}

interface OpenChoiceProps {
  form: FieldsProps['form'];
  name: 'resolution' | 'aspect_ratio';
  label: string;
  data: readonly string[];
}

/** Left empty, the model decides. */
function OpenChoice({ form, name, label, data }: OpenChoiceProps) {
  const { t } = useTranslation('calls');
  return (
    <Select
      label={label}
      description={t('play.fields.mayStayOpen')}
      placeholder={t('play.fields.open')}
      clearable
      clearButtonProps={{ 'aria-label': t('filters.clear', { ns: 'shell', what: label }) }}
      data={[...data]}
      {...form.getInputProps(name)}
      value={form.values[name] || null}
      onChange={(value) => form.setFieldValue(name, value ?? '')}
    />
  );
}
