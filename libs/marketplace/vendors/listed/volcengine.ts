import type { VendorModel } from '../vendor-model.js';
import { listedRate } from './sources.js';

/** The vendor's own page. Our copy of it has no date. */
const BYTEPLUS = {
  url: 'https://docs.byteplus.com/en/docs/Byteplus_LAS/Large_model_billing',
  read: '2026-11-25',
  via: 'a copy of the page without a date',
};

function seedream(id: string, unitPrice: string, source: VendorModel['source']): VendorModel {
  return {
    id,
    vendor: 'volcengine',
    family: 'image',
    unit: 'call',
    protocol: 'ark',
    limits: {},
    listPrice: { unitPrice },
    source,
    note: 'The price of BytePlus, which sells the models of Volcengine abroad. Volcengine itself charges in yuan.',
  };
}

export const volcengineModels: readonly VendorModel[] = [
  seedream('seedream-4-0-250828', '0.03', BYTEPLUS),
  seedream('seedream-4-5-251128', '0.04', BYTEPLUS),
  seedream('seedream-5-0-260128', '0.035', {
    url: 'https://docs.byteplus.com/en/docs/ModelArk/1544106',
    read: '2026-06',
    via: 'the price list of gogogotoken.ai',
  }),
  {
    id: 'seedance-1-0-pro-250528',
    vendor: 'volcengine',
    family: 'video',
    unit: 'second',
    protocol: 'ark',
    limits: { defaultSeconds: 5, minSeconds: 2, maxSeconds: 12, resolutions: ['480p', '720p', '1080p'] },
    // Tokens of a second of the largest shape, at 2.5 USD a million: 9,720 of 864 x 480, 22,560 of 1504 x 640 and 48,960 of 1920 x 1088.
    listPrice: {
      unitPrice: '0.1224',
      rates: [listedRate({ resolution: '480p' }, '0.0243'), listedRate({ resolution: '720p' }, '0.0564')],
    },
    source: {
      url: 'https://docs.byteplus.com/en/docs/ModelArk/1544106',
      read: '2026-11-25',
      via: 'pages that quote it and the model card (ModelArk/1587798), without a date',
    },
    note:
      'Worked out: BytePlus charges 2.5 USD for a million tokens, of which a second has width x height x 24 / 1024, in the largest shape ' +
      'of each resolution. The shapes are in its reference of video tasks (ModelArk/Video_Generation_API), read in a copy on 2026-11-26.',
  },
  {
    id: 'seedance-1-5-pro-251215',
    vendor: 'volcengine',
    family: 'video',
    unit: 'second',
    protocol: 'ark',
    limits: { defaultSeconds: 5, minSeconds: 4, maxSeconds: 12, resolutions: ['480p', '720p', '1080p'] },
    // Tokens of a second of the largest shape, at 2.4 USD a million with sound and 1.2 without: 10,044 of 864 x 496, 21,737 of
    // 1112 x 834 and 48,912 of 2206 x 946.
    listPrice: {
      unitPrice: '0.1174',
      rates: [
        listedRate({ resolution: '480p', audio: 'off' }, '0.0121'),
        listedRate({ resolution: '720p', audio: 'off' }, '0.0261'),
        listedRate({ audio: 'off' }, '0.0587'),
        listedRate({ resolution: '480p' }, '0.0242'),
        listedRate({ resolution: '720p' }, '0.0522'),
      ],
    },
    source: {
      url: 'https://docs.byteplus.com/en/docs/ModelArk/1544106',
      read: '2026-11-26',
      via: 'price lists of 302.ai and others that quote it, and the shapes in the reference of Runware, without a date',
    },
    note:
      'Worked out: BytePlus charges 2.4 USD for a million tokens of a video with sound and 1.2 without, of which a second has width x ' +
      'height x 24 / 1024, in the largest shape of each resolution.',
  },
];
