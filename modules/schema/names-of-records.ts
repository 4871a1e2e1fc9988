import { badRequest } from '../../src/core/errors.ts'
import { titlesIn } from '../../src/core/fields/choices.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { isSingleLink, type LinkOptions } from '../../src/core/fields/link-options.ts'
import { formatValue } from '../../src/core/fields/read.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import { type ColumnValue, pagesOf } from './column-values.ts'
import type { TableModel } from './model.ts'

/** Runs a statement: in a transaction, or as a scan beside it. */
export type ReadValues = (statement: Statement) => Promise<ColumnValue[]>

/** What a value of a field says of records of another table. */
export interface NamedRecords {
  ids: RecordId[]
  /** The names that are found, and how many are not. */
  titles: string[]
  missing: number
}

/** Records of a table by the text of their display field; of several with one name the first is meant. */
export async function recordsByName(
  engine: Engine,
  related: TableModel,
  read: ReadValues,
): Promise<ReadonlyMap<string, RecordId>> {
  const { displayField } = related
  if (fieldType(displayField.type).computed) {
    throw badRequest(
      `Records of ${related.table.title} are named by "${displayField.title}", which is computed: they cannot be found by name`,
    )
  }
  const byName = new Map<string, RecordId>()
  for await (const page of pagesOf(engine, related, displayField, read)) {
    for (const { id, value } of page) {
      const name = formatValue(displayField, value).trim()
      if (name !== '' && !byName.has(name)) byName.set(name, id)
    }
  }
  return byName
}

/**
 * Reads a value as the names of records: the whole text, or for a link to many a list with commas where the
 * whole is no name.
 */
export function readNames(
  field: Pick<Field, 'type' | 'options'>,
  value: CellValue,
  { kind }: Pick<LinkOptions, 'kind'>,
  byName: ReadonlyMap<string, RecordId>,
): NamedRecords {
  const text = formatValue(field, value).trim()
  const isOne = isSingleLink({ kind }) || byName.has(text)
  const names = text === '' ? [] : isOne ? [text] : [...new Set(titlesIn(text).map((title) => title.trim()))]
  const titles = names.filter((name) => byName.has(name))
  const ids = titles.map((name) => byName.get(name)!)
  return { ids, titles, missing: names.length - titles.length }
}
