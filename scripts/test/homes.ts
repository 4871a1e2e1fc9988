/** Database of the metadata and base tables during a run; the value of `TEST_HOME`. */
export type Home = 'sqlite' | 'postgres'

/** Test files that run on both SQLite and PostgreSQL, as paths below `tests` without `.test.ts`. */
export const SUITES_FOR_EACH_HOME: readonly string[] = [
  'activity/activity',
  'comments/comments',
  'copies/base',
  'copies/field',
  'copies/table',
  'copies/table-job',
  'hooks/deliveries',
  'hooks/large',
  'hooks/rest',
  'hooks/settings',
  'imports/append',
  'imports/export-again',
  'imports/files',
  'imports/import',
  'imports/links',
  'indexes/indexes',
  'notifications/notifications',
  'notifications/rest',
  'plugins/mail',
  'plugins/rest',
  'plugins/storage',
  'records/actions',
  'records/apply',
  'records/base-search',
  'records/change',
  'records/change-log',
  'records/computed-list',
  'records/computed-statements',
  'records/constraints',
  'records/create',
  'records/create-values',
  'records/deep-pages',
  'records/default-now',
  'records/expected-values',
  'records/export',
  'records/feed',
  'records/filters',
  'records/formula',
  'records/formula-chains',
  'records/groups',
  'records/links-by-column',
  'records/links-large',
  'records/links-model',
  'records/links-picker',
  'records/links-trash',
  'records/links-write',
  'records/list',
  'records/long-writes',
  'records/openapi',
  'records/order',
  'records/people',
  'records/repeat',
  'records/restore-record',
  'records/restore-table',
  'records/result-cache',
  'records/revert',
  'records/search-index',
  'records/starter',
  'records/trash',
  'records/type-reading',
  'records/type-writing',
  'records/undo',
  'records/undo-action',
  'records/undo-rules',
  'records/undo-trash',
  'records/unique-values',
  'records/wide-table',
  'schema/conversion-matrix',
  'shares/base-link-files',
  'shares/form',
  'shares/hidden-stacks',
  'shares/manage',
  'shares/odd-input',
  'shares/signed-files',
  'shares/view-link',
  'shares/view-link-people',
  'wire/cells',
  'wire/computed',
  'wire/formulas',
  'wire/links',
]

const SUITE_FILES = new Set(SUITES_FOR_EACH_HOME.map((suite) => `tests/${suite}.test.ts`))

/**
 * The homes to run a test file on. Quiet tests and browser tests run on SQLite unless they choose a database.
 *
 * @param file path in the project, e.g. `tests/records/undo.test.ts`
 * @param only the home named by `--home`; null for all
 */
export function homesOf(file: string, only: Home | null = null): Home[] {
  const homes: Home[] = SUITE_FILES.has(file) ? ['sqlite', 'postgres'] : ['sqlite']
  return homes.filter((home) => only === null || home === only)
}
