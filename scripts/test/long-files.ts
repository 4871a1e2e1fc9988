/** Files that take longest, about half a minute or more on two processors, the longest first. */
export const LONG_FILES: readonly string[] = [
  'tests/e2e/accessibility.e2e.ts',
  'tests/records/search-index.test.ts',
  'tests/e2e/import.e2e.ts',
  'tests/formula/differential.test.ts',
  'tests/e2e/typing.e2e.ts',
  'tests/e2e/new-field-type.e2e.ts',
  'tests/records/links-model.test.ts',
  'tests/access/matrix.test.ts',
  'tests/schema/conversion-matrix.test.ts',
  'tests/deploy/dockerfile.test.ts',
]

/** Files that take nearly as long and mostly wait: for turns of five seconds, and for a database that is frozen. */
export const WAITING_FILES: readonly string[] = [
  'tests/records/undo-trash.test.ts',
  'tests/servers/restart.test.ts',
]

/**
 * Quiet files that wait for half a minute, with limits of seconds, and leave both processors to others. They run beside the other
 * quiet ones.
 */
export const PATIENT_FILES: readonly string[] = ['tests/servers/restart.quiet.test.ts']
