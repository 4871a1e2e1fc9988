/** Files that take longest, about half a minute or more on two processors, the longest first. */
export const LONG_FILES: readonly string[] = [
  'tests/e2e/accessibility.e2e.ts',
  'tests/records/links-model.test.ts',
  'tests/access/matrix.test.ts',
  'tests/schema/conversion-matrix.test.ts',
  'tests/deploy/dockerfile.test.ts',
]
