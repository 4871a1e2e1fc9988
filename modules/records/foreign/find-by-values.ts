import { type SQL, sql } from 'drizzle-orm'
import { readExactNumber } from '../../../src/core/exact-decimal.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Dialect, Engine } from '../../../src/dialects/dialect.ts'
import { comparedColumn, isComparable, isPadded } from '../../../src/dialects/foreign.ts'
import { anyOf } from '../../../src/dialects/standard-sql.ts'
import type { TableModel } from '../../schema/index.ts'
import { chunks, columnOf, encoded, readWhere, type StoredRecord } from '../table/index.ts'

/** Records of a connected table by the values of some of its fields. */
export interface FoundByValues {
  /** The records whose fields have these values, in the order of the fields. */
  get(values: readonly CellValue[]): readonly StoredRecord[]
}

/** The columns of a table to look in, and the fields to read. */
interface Asked {
  engine: Pick<Engine, 'dialect' | 'all'>
  model: TableModel
  by: Field[]
  read: Field[]
}

/**
 * Finds records by the values of some fields, a statement for 500 of them. Values are equal if they are stored equal: `1` and
 * `1.0`, but not `a` and `A`, whatever the column's collation.
 *
 * @param wanted values without nulls, in the order of `by`
 */
export async function findByValues(
  { engine, model, by, read }: Asked,
  wanted: readonly (readonly CellValue[])[],
): Promise<FoundByValues> {
  const { dialect, all } = engine
  const found = new Map<string, StoredRecord[]>()
  const keyOf = (values: readonly CellValue[]) =>
    JSON.stringify(by.map((field, at) => comparable(field, values[at] ?? null)))
  const fields = [...new Set([...by, ...read])]
  const different = [...new Map(wanted.map((values) => [keyOf(values), values])).values()]
  const possible = different.filter((values) =>
    by.every(({ databaseType }, at) => isComparable(databaseType, values[at] ?? null)),
  )
  for (const chunk of chunks(possible)) {
    const where = isAnyOf(dialect, by, chunk)
    for (const record of await readWhere({ tx: { all }, dialect, model }, where, fields)) {
      const key = keyOf(by.map(({ id }) => record.values[id] ?? null))
      found.set(key, [...(found.get(key) ?? []), record])
    }
  }
  return { get: (values) => found.get(keyOf(values)) ?? [] }
}

/** Condition: the fields have one of the lists of values. */
function isAnyOf(dialect: Dialect, by: Field[], chunk: (readonly CellValue[])[]): SQL {
  const columns = by.map((field) =>
    comparedColumn(dialect, columnOf(field), {
      storage: storageOf(field),
      databaseType: field.databaseType,
    }),
  )
  const [column, ...others] = columns
  const value = (field: Field | undefined, of: CellValue): CellValue =>
    field ? encoded(field, dialect, of) : of
  if (column && others.length === 0) {
    const values = chunk.map(([only]) => sql`${value(by[0], only ?? null)}`)
    return sql`${column} in (${sql.join(values, sql`, `)})`
  }
  return anyOf(
    chunk.map((values) => {
      const each = columns.map((one, at) => sql`${one} = ${value(by[at], values[at] ?? null)}`)
      return sql`(${sql.join(each, sql` and `)})`
    }),
  )
}

/** The value in a form in which equal ones are the same text. */
function comparable(field: Field, value: CellValue): string {
  const storage = storageOf(field)
  if (storage === 'boolean') return value === true || value === 1 || value === 'true' ? '1' : '0'
  if (storage !== 'integer' && storage !== 'real' && storage !== 'id') {
    if (isPadded(field.databaseType)) return String(value).trimEnd()
    return field.databaseType === 'uuid' ? String(value).toLowerCase() : String(value)
  }
  return readExactNumber(String(value))?.text ?? String(Number(value))
}
