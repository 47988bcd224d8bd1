import { books, payments, staffLimits } from './money.settings.js';
import { console, mail, privacy, sessions, webhooks } from './people.settings.js';
import { sandbox, testing } from './sandbox.settings.js';
import {
  addresses,
  channels,
  database,
  kafka,
  limits,
  requestLog,
  requests,
  secrets,
  storage,
  tasks,
  telemetry,
} from './serving.settings.js';

/** Every variable that a program reads, by the sections of docs/configuration.md. They are declared here and nowhere else. */
export const SECTIONS = {
  'Addresses and ports': addresses,
  'Database and data': database,
  Secrets: secrets,
  'Kafka and the outbox': kafka,
  'File storage': storage,
  'Requests and holds': requests,
  'Limits of requests': limits,
  Channels: channels,
  'Long-running work': tasks,
  'Sessions and sign-in': sessions,
  Console: console,
  Mail: mail,
  Payments: payments,
  'Prices and limits of staff': staffLimits,
  Webhooks: webhooks,
  Books: books,
  Privacy: privacy,
  'Log of requests': requestLog,
  'Traces and metrics': telemetry,
  'Sandbox upstream': sandbox,
  Tests: testing,
};

export const SETTINGS = {
  ...addresses,
  ...database,
  ...secrets,
  ...kafka,
  ...storage,
  ...requests,
  ...limits,
  ...channels,
  ...tasks,
  ...sessions,
  ...console,
  ...mail,
  ...payments,
  ...staffLimits,
  ...webhooks,
  ...books,
  ...privacy,
  ...requestLog,
  ...telemetry,
  ...sandbox,
  ...testing,
};

export type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;

export const settingNames = Object.keys(SETTINGS) as SettingName[];

/** Settings that are read as milliseconds. */
export type DurationSetting = Extract<SettingName, `${string}_${'SECONDS' | 'DAYS'}`>;
