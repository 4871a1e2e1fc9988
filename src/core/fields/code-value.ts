import { workedOut } from './system-value.ts'

/** What fields have in common that show another field's value as a code. */
export const codeValue = {
  ...workedOut,
  storage: 'longText' as const,
  summaries: 'count' as const,
  computed: 'code' as const,
  groupable: false as const,
}
