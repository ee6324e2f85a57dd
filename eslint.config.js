import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { declaredErrors } from './scripts/eslint/declared-errors.js';

export default defineConfig(
  globalIgnores([
    'generated/',
    'site/',
    'pages/',
    'dist/',
    'client/dist/',
    '.data/',
    '.mutate/',
    '.cache/',
    'node_modules/',
  ]),
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Numbers are safe in template strings; objects and nullish values are still errors.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    // Without an explicit return type, the compiler accepts fields that the contract does not have.
    files: ['server/handlers/*.ts'],
    plugins: { contract: declaredErrors },
    rules: {
      'contract/declared-errors': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'ExportNamedDeclaration > VariableDeclaration > VariableDeclarator > ArrowFunctionExpression:not([returnType])',
          message: "State the return type of a handler: (input, deps): Promise<Result<'operationId'>> =>",
        },
        {
          selector: 'AwaitExpression > CallExpression[callee.property.name="inUnitOfWork"]',
          message:
            'Return the unit of work: its answer was held against the contract before it was committed.',
        },
        {
          selector: 'AwaitExpression > CallExpression[callee.name="inUnitOfWork"]',
          message:
            'Return the unit of work: its answer was held against the contract before it was committed.',
        },
        {
          selector: 'CallExpression[callee.name="inUnitOfWork"] > ArrowFunctionExpression:not([returnType])',
          message: "State what a unit of work answers: async (unit): Promise<Result<'operationId'>> =>",
        },
        {
          selector:
            'CallExpression[callee.property.name="inUnitOfWork"] > ArrowFunctionExpression:not([returnType])',
          message: "State what a unit of work answers: async (unit): Promise<Result<'operationId'>> =>",
        },
      ],
    },
  },
  {
    // Jobs, pages and the command line call the same actions, and have no status to answer with.
    files: [
      'server/actions/**/*.ts',
      'server/domain/**/*.ts',
      'server/present/**/*.ts',
      'server/store/**/*.ts',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '/errors\\.ts$',
              message:
                "Only handlers and the pipeline throw ApiError. Return what happened instead, such as 'closed' or undefined, " +
                "and let the handler throw: if (done === 'closed') throw new ApiError('…'). " +
                'See "Where code belongs" in docs/guides/backend-engineer.md.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
);
