import { z } from 'zod'
import type { CellValue } from './field-type.ts'

/** What fields that hold the id of a user have in common. People see the name; that is the screen's part. */
export const personValue = {
  storage: 'text' as const,
  options: z.object({}),
  filters: 'user' as const,
  summaries: 'count' as const,
  people: 'recorded' as const,
  parse: (text: string): CellValue => (/^us\w{1,40}$/.test(text.trim()) ? text.trim() : null),
  format: (value: CellValue) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
}
