const swc = {
  module: { type: 'es6' },
  sourceMaps: 'inline',
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
};

export default {
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/jest.setup.mjs',
  globalTeardown: '<rootDir>/test/support/jest.teardown.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  // Real databases and brokers on a busy machine: a limit that only a hang reaches.
  testTimeout: 30_000,
  workerIdleMemoryLimit: '400MB',
  maxWorkers: 2,
};
