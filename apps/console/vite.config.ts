import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { landingDocuments } from './landing.plugin.js';

/** What the control plane replaces by a new nonce with each answer. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  base: '/',
  plugins: [react(), landingDocuments()],
  // The development server answers without the policy, and its client would trip over the placeholder.
  html: command === 'build' ? { cspNonce: NONCE_PLACEHOLDER } : {},
  build: {
    target: 'es2022',
    manifest: true,
    // The policy allows scripts and styles as files alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    // Libraries that every page needs are one file: fifty compress worse, and are asked for one by one.
    rolldownOptions: {
      input: ['index.html', 'visitor/after-paint.ts'].map((file) => join(import.meta.dirname, file)),
      output: {
        codeSplitting: { groups: [{ name: 'libraries', tags: ['$initial'], test: /node_modules/ }] },
      },
    },
  },
}));
