import type { Values } from '../../src/core/changes.ts'
import { AppError } from '../../src/core/errors.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { columnName, decoderOf } from './columns.ts'
import type { WriteContext } from './write-context.ts'

/** Values that one statement binds at most, well below every engine's limit. */
const CHUNK = 500

/** The given fields of records, by id as text; what is not there is absent. */
export async function readRecords(
  context: WriteContext,
  ids: RecordId[],
  fields: Field[],
): Promise<Map<string, Values>> {
  const { tx, dialect, model } = context
  const found = new Map<string, Values>()
  const decoders = fields.map((field) => decoderOf(field, dialect))
  const key = dialect.quote(columnName(model.primaryKey))
  const columns = fields.map((field, index) => `, ${dialect.quote(columnName(field))} as f${index + 1}`)
  const from = `select ${key} as f0${columns.join('')} from ${dialect.quote(model.table.tableName)}`
  for (const chunk of chunks(ids)) {
    const marks = chunk.map(() => '?').join(', ')
    const rows = await tx.all<Record<string, CellValue>>({
      sql: `${from} where ${key} in (${marks})`,
      params: chunk,
    })
    for (const row of rows) {
      const values: Values = {}
      fields.forEach((field, index) => {
        const value = row[`f${index + 1}`] ?? null
        values[field.id] = decoders[index]?.(value) ?? value
      })
      found.set(String(row.f0), values)
    }
  }
  return found
}

/** Lists short enough for one statement. */
export function* chunks<T>(items: T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += CHUNK) yield items.slice(start, start + CHUNK)
}

/** @throws RECORD_NOT_FOUND naming every id that was not found */
export function requireAll(ids: RecordId[], found: Map<string, unknown>): void {
  const gone = ids.filter((id) => !found.has(String(id)))
  if (gone.length === 0) return
  const names = gone.map((id) => `'${id}'`).join(', ')
  throw new AppError(
    'RECORD_NOT_FOUND',
    gone.length === 1 ? `Record ${names} not found` : `Records ${names} not found`,
    { recordIds: gone },
  )
}
