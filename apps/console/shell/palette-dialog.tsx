import { Modal, NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useMounted } from '@mantine/hooks';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/shape.js';
import { ID } from '../ui/patterns.js';
import { isListed, navigationOf } from './navigation/navigation.js';
import { mayAny } from './session.js';

interface PaletteDialogProps {
  session: Shape<'Session'>;
  isOpen: boolean;
  close: () => void;
}

interface Destination {
  key: string;
  label: string;
  area: string;
  go: () => Promise<void>;
}

/** Finds pages by a part of their names, and what a pasted id names. */
export default function PaletteDialog({ session, isOpen, close }: PaletteDialogProps) {
  const { t } = useTranslation('shell');
  // A window returns the focus to where it was when it opened, not when it was loaded.
  const isLoaded = useMounted();
  return (
    <Modal opened={isLoaded && isOpen} onClose={close} title={t('palette.open')} size="md">
      <Search session={session} close={close} />
    </Modal>
  );
}

function Search({ session, close }: { session: Shape<'Session'>; close: () => void }) {
  const { t } = useTranslation('shell');
  const [words, setWords] = useState('');
  const found = useDestinations(session, words.trim());
  const goTo = ({ go }: Destination) => {
    close();
    void go();
  };
  const goToFirst = (event: FormEvent) => {
    event.preventDefault();
    if (found[0]) goTo(found[0]);
  };
  return (
    <form onSubmit={goToFirst} className="stack">
      <TextInput
        aria-label={t('palette.label')}
        placeholder={t('palette.label')}
        value={words}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Stack gap={2}>
        {found.map((each) => (
          <NavLink
            key={each.key}
            component="button"
            type="button"
            label={each.label}
            description={each.area}
            onClick={() => goTo(each)}
          />
        ))}
        {found.length === 0 && <Text c="dimmed">{t('palette.none')}</Text>}
      </Stack>
    </form>
  );
}

function useDestinations(session: Shape<'Session'>, words: string): Destination[] {
  const { t } = useTranslation('shell');
  const named = useNamed(session, words);
  const navigate = useNavigate();
  const { routeTree } = useRouter();
  if (ID.test(words)) return named;
  return navigationOf(routeTree).flatMap(({ label: area, entries }) =>
    entries
      .filter((entry) => isListed(entry, session))
      .map(({ to, label }) => ({
        key: to,
        label: t(`nav.${label}`),
        area: t(`nav.${area}`),
        go: () => navigate({ to }),
      }))
      .filter(({ label }) => label.toLowerCase().includes(words.toLowerCase())),
  );
}

/** Where an id can lead; the page says when there is no such thing. */
function useNamed(session: Shape<'Session'>, id: string): Destination[] {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const places = [
    { label: 'usage', roles: ['user'], go: () => navigate({ to: '/usage', search: { charge: id } }) },
    {
      label: 'accounts',
      roles: ['support', 'admin'],
      go: () => navigate({ to: '/support/accounts/$accountId', params: { accountId: id } }),
    },
    {
      label: 'revenue',
      roles: ['finance'],
      go: () => navigate({ to: '/finance/charges/$chargeId', params: { chargeId: id } }),
    },
  ] as const;
  return places
    .filter(({ roles }) => mayAny(session, roles))
    .map(({ label, go }) => ({
      key: label,
      label: t(`palette.${label}`, { id }),
      area: t(`nav.${label}`),
      go,
    }));
}
