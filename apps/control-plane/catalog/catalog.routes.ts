import { z } from 'zod';
import { routings } from '#catalog/channel-order.js';
import { protocolNames } from '#upstream/adapters.js';
import { hindrances } from '#marketplace/offer.js';
import { modelRouteView } from '#operations/program.view.js';
import { asRead, name, timeView } from '#platform/http/fields.js';
import { limitsFields } from '#marketplace/limits.fields.js';
import { decimal, groupName, modelName } from '#marketplace/prices/price-change.fields.js';
import { modelFamilies } from '#pricing/price-book.js';
import { routesFor } from '../http/route.js';
import { apiKeys, channelFields, channelId, routedModels, webhookSecret } from './channel.fields.js';

const MODELS = '/api/admin/models';
const GROUPS = '/api/admin/groups';
const CHANNELS = '/api/admin/channels';

export const modelUnits = z.enum(['call', 'second', 'token']);

const routing = z
  .enum(routings)
  .describe(
    'What decides among its channels of the same priority: their weights, the lowest cost, or the lowest latency. An alias is routed as its model.',
  );

const modelView = z
  .object({
    id: z.string(),
    family: z.enum(modelFamilies),
    unit: modelUnits,
    ownedBy: z.string(),
    aliasOf: z.string().nullable(),
    enabled: z.boolean(),
    limits: limitsFields,
    routing,
    groups: z.array(z.string()),
    sales: z
      .array(z.object({ group: z.string(), hindrance: z.enum(hindrances).nullable() }))
      .describe("The model's groups. `hindrance` says why it is not listed and sold there; null if it is."),
    createdAt: timeView,
  })
  .meta({ id: 'Model' });

const groupNames = z.array(groupName).max(1_000);
const modelNames = z.array(modelName).max(10_000);
const perMinute = z.int().min(1).max(1_000_000_000).nullable();
const runningTasks = z.int().min(0).max(1_000_000_000).nullable();

const open = z
  .boolean()
  .describe('Whether every account can create keys in the group, or only accounts with a grant.');

const groupView = z
  .object({
    name: z.string(),
    open,
    models: z.array(z.string()),
    multiplier: z.string().nullable().describe('In force now. Null if withdrawn.'),
    fixedPerCall: z
      .string()
      .nullable()
      .describe('Credits per call if the group has a fixed price. Null if list prices apply.'),
    requestsPerMinute: perMinute.describe('Per account. Null if the defaults apply.'),
    tokensPerMinute: perMinute,
    imagesPerMinute: perMinute,
    maxRunningTasks: runningTasks,
    maxConcurrentRequests: perMinute,
    createdAt: timeView,
  })
  .meta({ id: 'Group' });

const channelView = z
  .object({
    id: z.string(),
    protocol: z.enum(protocolNames),
    ...channelFields,
    keyMarks: z.array(z.string()),
    webhookSecretMark: z.string().nullable(),
    models: z.record(z.string(), z.string()),
    groups: z.array(z.string()),
    createdAt: timeView,
  })
  .meta({ id: 'Channel' });

const approvalId = z.string().nullable().describe('The approval that missing models wait for.');

const routesId = z
  .string()
  .nullable()
  .describe('The approval that missing models, names at the upstream and groups wait for.');

const openingId = z.string().nullable().describe('The approval that the opening waits for.');

const modelSettings = z
  .strictObject({ enabled: z.boolean(), ownedBy: name, limits: limitsFields, routing })
  .partial();
const channelSettings = z
  .strictObject({ ...channelFields, models: routedModels, groups: groupNames })
  .partial();
const groupModels = z.strictObject({ models: modelNames });
const groupSettings = groupModels
  .extend({
    open,
    requestsPerMinute: perMinute,
    tokensPerMinute: perMinute,
    imagesPerMinute: perMinute,
    maxRunningTasks: runningTasks,
    maxConcurrentRequests: perMinute,
  })
  .partial();

const namesModel = z.strictObject({ model: modelName });
const namesGroup = z.strictObject({ group: groupName });
const namesChannel = z.strictObject({ channelId });

const forAdmins = routesFor(['admin'], 'Catalog');

export const catalogRoutes = {
  listModels: forAdmins.list(modelView)('listModels', MODELS, {
    summary: 'List all models by ID, including disabled models and models without a price.',
    query: { family: z.enum(modelFamilies).optional() },
  }),
  createModel: forAdmins.post('createModel', MODELS, {
    summary: 'Add a model or an alias.',
    description:
      'A model is for sale once a proposal gives it a price. An alias has the price of its model. It enters groups with a fixed price, or one further below the list price than one person may change prices, once another administrator has approved that.',
    body: z.strictObject({
      id: modelName,
      family: z.enum(modelFamilies).optional().describe('Omit for an alias.'),
      unit: modelUnits.optional().describe('The unit that is priced. Required if the type allows several.'),
      ownedBy: name,
      aliasOf: modelName.optional(),
      enabled: z.boolean().default(true),
      limits: limitsFields.default({}),
      groups: groupNames.default([]),
    }),
    answer: modelView.extend({ approvalId }),
    status: 201,
    refusals: ['conflict'],
  }),
  getModel: forAdmins.get('getModel', `${MODELS}/{model}`, {
    summary: 'Get a model.',
    params: namesModel,
    answer: modelView,
  }),
  getModelRoute: forAdmins.get('getModelRoute', `${MODELS}/{model}/route`, {
    summary: 'Get the channels of a model in the order in which a call tries them now.',
    description:
      'The highest priority first, then the lowest cost or latency if the model is routed by one, then by weight.',
    params: namesModel,
    answer: modelRouteView,
  }),
  changeModel: forAdmins.patch('changeModel', `${MODELS}/{model}`, {
    summary: 'Enable or disable a model, or change its limits, vendor or routing.',
    confirms: true,
    params: namesModel,
    body: modelSettings.extend({ was: asRead(modelSettings) }),
    answer: modelView,
    refusals: ['conflict'],
  }),
  listGroups: forAdmins.list(groupView)('listGroups', GROUPS, {
    summary: 'List all groups with their current multiplier and rule.',
  }),
  createGroup: forAdmins.post('createGroup', GROUPS, {
    summary: 'Add a group with its initial multiplier and rule.',
    description:
      'Refuses a fixed price, and a multiplier further below 1 than one person may change prices: propose them afterwards. With `ONE_PERSON`, they are accepted and recorded.',
    confirms: true,
    body: z.strictObject({
      name: groupName,
      open: open.default(false),
      multiplier: decimal.default('1'),
      fixedPerCall: decimal.nullable().default(null),
      models: modelNames.default([]),
      requestsPerMinute: perMinute.default(null),
      tokensPerMinute: perMinute.default(null),
      imagesPerMinute: perMinute.default(null),
      maxRunningTasks: runningTasks.default(null),
      maxConcurrentRequests: perMinute.default(null),
    }),
    answer: groupView,
    status: 201,
    refusals: ['conflict', 'second_person_required'],
  }),
  getGroup: forAdmins.get('getGroup', `${GROUPS}/{group}`, {
    summary: 'Get a group.',
    params: namesGroup,
    answer: groupView,
  }),
  changeGroup: forAdmins.patch('changeGroup', `${GROUPS}/{group}`, {
    summary: 'Open or close a group, or change its models or the limits of each account in it.',
    description:
      'A group that sells a model at a fixed price, or further below the list price than one person may change prices, is opened once another administrator has approved it. Once the group is closed, paid calls with keys of accounts without a grant are refused. Models are added as `setGroupModels` does.',
    confirms: true,
    params: namesGroup,
    body: groupSettings.extend({ was: asRead(groupSettings) }),
    answer: groupView.extend({ approvalId: openingId, modelsApprovalId: approvalId }),
    refusals: ['conflict'],
  }),
  setGroupModels: forAdmins.put('setGroupModels', `${GROUPS}/{group}/models`, {
    summary: 'Set the models that keys of a group can use.',
    description:
      'Models that the group sells at a fixed price, or further below the list price than one person may change prices, are added once another administrator has approved them. The others are set at once.',
    params: namesGroup,
    body: groupModels.extend({ was: asRead(groupModels) }),
    answer: groupView.extend({ approvalId }),
    refusals: ['conflict'],
  }),
  listChannels: forAdmins.list(channelView)('listChannels', CHANNELS, {
    summary: 'List all upstreams.',
  }),
  createChannel: forAdmins.post('createChannel', CHANNELS, {
    summary: 'Add an upstream.',
    description:
      'Once customers have paid, its models and groups are added when another administrator has approved them. With simulated payments, they are added at once.',
    confirms: true,
    body: z
      .strictObject(channelFields)
      .partial()
      .extend({
        id: channelId,
        protocol: z.enum(protocolNames),
        baseUrl: channelFields.baseUrl,
        apiKeys,
        webhookSecret: webhookSecret.optional(),
        models: routedModels.default({}),
        groups: groupNames.default([]),
      }),
    answer: channelView.extend({ approvalId: routesId }),
    status: 201,
    refusals: ['conflict'],
  }),
  getChannel: forAdmins.get('getChannel', `${CHANNELS}/{channelId}`, {
    summary: 'Get an upstream.',
    params: namesChannel,
    answer: channelView,
  }),
  changeChannel: forAdmins.patch('changeChannel', `${CHANNELS}/{channelId}`, {
    summary:
      'Change an upstream. Omitted fields keep their value; lists of models, groups and keys are replaced.',
    description:
      'If the origin of the address changes, the keys must be sent again. Once customers have paid, new models, other names at the upstream and new groups are set when another administrator has approved them. A channel with models or running tasks then keeps its base URL, except with `ONE_PERSON`.',
    confirms: true,
    params: namesChannel,
    body: channelSettings.extend({
      apiKeys: apiKeys.optional(),
      webhookSecret: webhookSecret.optional(),
      was: asRead(channelSettings),
    }),
    answer: channelView.extend({ approvalId: routesId }),
    refusals: ['conflict', 'second_person_required'],
  }),
};
