import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const nodeGlobals = Object.fromEntries(
  ['process', 'console', 'fetch', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'URL', 'Buffer'].map(
    (name) => [name, 'readonly'],
  ),
);

export default tseslint.config(
  // The programs in test/clients/ need what is generated.
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.data/', 'test/clients/programs/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Nothing here declares an enum, and this rule takes a quarter of the time of all.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Nest modules and domain classes with static factories are classes without instance members.
      '@typescript-eslint/no-extraneous-class': 'off',
      // Nest and TypeORM declare options, which are object literals everywhere, as classes.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
  {
    files: ['apps/portal/**'],
    languageOptions: { parserOptions: { project: './apps/portal/tsconfig.json' } },
  },
  { files: ['**/*.mjs', '**/*.cjs', '**/*.js'], languageOptions: { globals: { ...nodeGlobals, module: 'writable' } } },
  prettier,
);
