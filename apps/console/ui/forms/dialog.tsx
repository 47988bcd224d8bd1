import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ReactNode } from 'react';
import { useSearch } from '@tanstack/react-router';
import { useClose } from '../address.js';

/** The library's window over a page, with a name for the button that closes it. Use it for every one that can be closed. */
export function Dialog(props: ModalProps) {
  const { t } = useTranslation('shell');
  return <Modal closeButtonProps={{ 'aria-label': t('close') }} {...props} />;
}

interface SidePanelProps extends Omit<DrawerProps, 'onClose'> {
  /** What has it open in the address, and is gone from there when it is closed. */
  param: string;
}

/** What is opened beside a list, such as the details of a row. */
export function SidePanel({ param, ...drawer }: SidePanelProps) {
  return <FormPanel {...drawer} close={useClose(param)} />;
}

interface FormPanelProps extends Omit<DrawerProps, 'onClose'> {
  close: () => void;
}

/** A form beside the list that it adds to or changes a row of. */
export function FormPanel({ close, ...drawer }: FormPanelProps) {
  const { t } = useTranslation('shell');
  const button = { 'aria-label': t('close') };
  return <Drawer position="right" size="lg" closeButtonProps={button} {...drawer} onClose={close} />;
}

interface OpenPanelProps extends Omit<SidePanelProps, 'opened' | 'children'> {
  /** Shows what the address names. */
  children: (id: string) => ReactNode;
}

/** The side panel of what the address names, such as a row that OpenLink opened. */
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
  /** Undefined where the address names none that is listed. */
  row: Row | undefined;
  title: (row: Row) => ReactNode;
  children: (row: Row) => ReactNode;
}

/** The same of a row that the list has already. */
export function OpenRow<Row>({ row, title, children, ...panel }: OpenRowProps<Row>) {
  const heading = row && <span className="model-name">{title(row)}</span>;
  return (
    <SidePanel opened={row !== undefined} title={heading} {...panel}>
      {row && children(row)}
    </SidePanel>
  );
}
