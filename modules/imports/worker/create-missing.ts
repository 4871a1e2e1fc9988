import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { type ColumnValue, pagesOf } from '../../../src/db/column-values.ts'
import { type FoundNames, readNames } from '../../../src/db/names-of-records.ts'
import { createSpillMap } from '../../../src/db/spill-map.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import {
  type Append,
  type ImportPlan,
  type LinkColumn,
  type NewRecords,
  ROW_COLUMN,
  stagedRows,
} from '../plan.ts'
import type { FinishTools } from './fill.ts'

/** Adds staged rows to a table. `firstId`: id of the first one; the others follow it in order. */
export type AddRecords = (
  plan: ImportPlan,
  how: Append,
  tools: FinishTools,
) => Promise<{ changeId: number | null; firstId?: number }>

/** How the linked records that a column names are created. */
export interface Creation {
  create: NewRecords
  append: AddRecords
}

/**
 * Creates the records that the staged cells of a column name and that are not there yet, in the same transaction: their
 * names are staged like the rows of a file and added to the linked table under an entry of their own. A name that the
 * display field cannot hold creates nothing.
 *
 * @returns finds the records of `names` and the new ones; closes only its own
 */
export async function createMissing(
  plan: ImportPlan,
  { column: columnName, link }: LinkColumn,
  tools: FinishTools,
  { create: { name, finish }, append, names }: Creation & { names: FoundNames },
): Promise<FoundNames> {
  const { tx, dialect, mainThread } = tools
  const { parse, storage } = fieldType(name.type)
  const encode = dialect.encode(storage)
  /** Numbers of the new records, from 1, by name and by value, and known ones whose name is written in another way. */
  const [byName, byValue] = [createSpillMap<number>(), createSpillMap<number>()]
  const known = createSpillMap<RecordId>()
  const staging = `${plan.staging}_names`
  const insert = insertSql(dialect, staging, name.column)
  await createStaging(tools, staging, name)

  function add(text: string): unknown[][] {
    if (byName.get(text) !== undefined || known.get(text) !== undefined) return []
    const value: CellValue = parse(text, name.options)
    if (value === null) return []
    const existing = names.find(String(value)) ?? names.find(formatValue(name, value))
    if (existing !== undefined) {
      known.set(text, existing)
      return []
    }
    const number = byValue.get(String(value))
    byName.set(text, number ?? byValue.size + 1)
    if (number !== undefined) return []
    byValue.set(String(value), byValue.size + 1)
    return [[byValue.size, encode?.(value) ?? value]]
  }

  const cells = { type: 'LongText' as const, columnName }
  for await (const page of pagesOf({ dialect }, stagedRows(plan), cells, (read) =>
    tx.all<ColumnValue>(read),
  )) {
    mainThread.check()
    const missing = page.flatMap(({ value }) => {
      const named = readNames(String(value ?? ''), link, names)
      return named.isTooMany ? [] : named.missing.map((each) => each.trim())
    })
    await tx.runMany(insert, missing.flatMap(add))
  }
  const count = byValue.size
  byValue.close()
  const { changeId = null, firstId = 0 } =
    count === 0 ? {} : await append({ ...plan, staging, columns: [name], finish }, finish, tools)
  for (const statement of dialect.dropTable(staging)) await tx.run(statement)
  if (count > 0) {
    const { tableId, table } = link.related
    tools.created.push({ tableId, table: table.title, count, changeId })
  }
  return {
    find(text) {
      const found = names.find(text) ?? known.get(text.trim())
      const number = found === undefined ? byName.get(text.trim()) : undefined
      return number === undefined ? found : firstId + number - 1
    },
    close() {
      byName.close()
      known.close()
    },
  }
}

async function createStaging(
  { tx, dialect }: Pick<FinishTools, 'tx' | 'dialect'>,
  staging: string,
  { column, type }: NewRecords['name'],
): Promise<void> {
  const plain = { required: false, defaultValue: null }
  const columns = [
    { name: ROW_COLUMN, storage: 'id' as const, ...plain },
    { name: column, storage: fieldType(type).storage, ...plain },
  ]
  for (const statement of dialect.createTable(staging, columns)) await tx.run(statement)
}

function insertSql({ quote, placeholder }: Dialect, staging: string, column: string): string {
  return `insert into ${quote(staging)} (${quote(ROW_COLUMN)}, ${quote(column)})
    values (${placeholder(0)}, ${placeholder(1)})`
}
