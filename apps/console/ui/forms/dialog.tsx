import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useState } from 'react';
import { useSearch } from '@tanstack/react-router';
import { useClose } from '../address.js';

/** What closes each open dialog or panel, the newest last. */
const openNow: (() => void)[] = [];

function closeNewest({ key, isComposing, target }: KeyboardEvent): void {
  if (key !== 'Escape' || isComposing) return;
  // An open list of choices closes first.
  if (target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true') return;
  openNow.at(-1)?.();
}

/** Escape closes only the newest. The library's dialogs would all close at once. */
function useEscape(opened: boolean, close: () => void): void {
  const onEscape = useEffectEvent(close);
  useEffect(() => {
    if (!opened) return undefined;
    const closeThis = () => onEscape();
    openNow.push(closeThis);
    window.addEventListener('keydown', closeNewest, { capture: true });
    return () => void openNow.splice(openNow.indexOf(closeThis), 1);
  }, [opened]);
}

/** Lets what a dialog shows keep it open; null outside of one. */
const Keeping = createContext<((isKept: boolean) => void) | null>(null);

/** While this is shown, the dialog around it closes only by a button inside, not by Escape or a click outside. */
export function useKeptDialog(): void {
  const keep = useContext(Keeping);
  useEffect(() => {
    keep?.(true);
    return () => keep?.(false);
  }, [keep]);
}

/** A modal whose close button has a label. */
export function Dialog({ children, ...props }: ModalProps) {
  const { t } = useTranslation('shell');
  const [isKept, keep] = useState(false);
  const close = isKept ? () => undefined : props.onClose;
  useEscape(props.opened, close);
  const button = { withCloseButton: !isKept, closeButtonProps: { 'aria-label': t('close') } };
  return (
    <Modal {...button} {...props} onClose={close} closeOnEscape={false}>
      <Keeping value={keep}>{children}</Keeping>
    </Modal>
  );
}

interface SidePanelProps extends Omit<DrawerProps, 'onClose'> {
  /** The search parameter that opens it, and is removed when it is closed. */
  param: string;
}

/** A panel beside a list, such as for the details of a row. */
export function SidePanel({ param, ...drawer }: SidePanelProps) {
  return <FormPanel {...drawer} close={useClose(param)} />;
}

interface FormPanelProps extends Omit<DrawerProps, 'onClose'> {
  close: () => void;
}

/** A form beside the list that it changes. */
export function FormPanel({ close, ...drawer }: FormPanelProps) {
  const { t } = useTranslation('shell');
  useEscape(drawer.opened, close);
  const button = { closeButtonProps: { 'aria-label': t('close') }, closeOnEscape: false };
  return <Drawer position="right" size="lg" {...button} {...drawer} onClose={close} />;
}

interface OpenPanelProps extends Omit<SidePanelProps, 'opened' | 'children'> {
  children: (id: string) => ReactNode;
}

/** A panel for what the address names, such as a row opened by OpenLink. */
export function OpenPanel({ param, children, ...panel }: OpenPanelProps) {
  const search: Record<string, string | undefined> = useSearch({ strict: false });
  const id = search[param];
  return (
    <SidePanel param={param} opened={id !== undefined} {...panel}>
      {id !== undefined && children(id)}
    </SidePanel>
  );
}

interface OpenRowProps<Row> extends Omit<SidePanelProps, 'opened' | 'title' | 'children'> {
  /** Undefined if the address names none of the rows. */
  row: Row | undefined;
  title: (row: Row) => ReactNode;
  children: (row: Row) => ReactNode;
}

/** A panel for a row that the list already has. */
export function OpenRow<Row>({ row, title, children, ...panel }: OpenRowProps<Row>) {
  const heading = row && <span className="model-name">{title(row)}</span>;
  return (
    <SidePanel opened={row !== undefined} title={heading} {...panel}>
      {row && children(row)}
    </SidePanel>
  );
}
