import type { LinkOptions } from '../../../src/core/fields/link-options.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Dialect, Statement } from '../../../src/dialects/dialect.ts'
import type { ChangeContext, SchemaContext } from '../change/index.ts'
import {
  columnOf,
  createTableModel,
  openSlots,
  planFields,
  type StoredField,
  type TableModel,
} from '../model/index.ts'
import { buildTable } from '../tables/index.ts'
import type { LinkTarget } from './values.ts'

/** A new junction table. */
interface BuiltJunction {
  junction: NonNullable<LinkOptions['junction']>
  statements: MetaStatement[]
  target: LinkTarget
}

/** Creates the junction table of a many-to-many link: a regular table with two foreign keys, whose pairs are unique. */
export async function buildJunction(
  context: SchemaContext,
  change: ChangeContext,
  actorId: string | null,
  own: TableModel,
  related: TableModel,
  suffix: string,
): Promise<BuiltJunction> {
  const tableId = createId('table')
  const systemFields = planFields(tableId, [])
  const [ownKey, relatedKey] = keysOf(tableId, own, related, systemFields)
  const fields = [...systemFields, ownKey, relatedKey]
  const planned = {
    tableId,
    baseId: own.table.baseId,
    fields,
    description: null,
    meta: {},
    tableName: null,
    title: `nc_m2m_${slug(own.table.title)}_${slug(related.table.title)}`,
  }
  const { table, statements } = await buildTable(
    context,
    change,
    actorId,
    planned,
    (name, dialect) => [
      ...dialect.createTable(name, fields.flatMap(columnOf)),
      ...pairIndexes(dialect, name, [ownKey.columnName, relatedKey.columnName]),
    ],
    { freeTitle: true, isJunction: true, suffix },
  )
  return {
    junction: { tableId, ownFieldId: ownKey.id, relatedFieldId: relatedKey.id },
    statements,
    target: { tableName: table.tableName, ownColumn: ownKey.columnName, column: relatedKey.columnName },
  }
}

/** The indexes of a junction table: unique pairs, and a lookup from either end. */
export const pairIndexes = (
  dialect: Dialect,
  table: string,
  [ownColumn, column]: readonly [string, string],
  namedAfter?: string,
): Statement[] => [
  ...dialect.createUniqueIndex(table, [ownColumn, column], namedAfter),
  ...dialect.createIndex(table, [column], namedAfter),
]

function keysOf(
  tableId: string,
  own: TableModel,
  related: TableModel,
  systemFields: Field[],
): [Field, Field] {
  const stored: StoredField[] = systemFields.map((field) => ({
    ...field,
    createdAt: '',
    updatedAt: '',
    deletedAt: null,
    wireMeta: null,
  }))
  const slots = openSlots(createTableModel({ ...own.table, id: tableId }, stored), stored)
  const add = (parent: TableModel): Field => {
    const name = slots.keyName(parent.table.tableName)
    const key = { title: name, columnName: name, type: 'ForeignKey' as const, options: { isText: false } }
    return slots.add({ ...key, required: true })
  }
  return [add(own), add(related)]
}

/** Short enough for the whole name to fit into 60 characters. */
const slug = (title: string): string => title.replace(/[./\s]+/g, '_').slice(0, 20)
