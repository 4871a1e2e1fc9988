import { badRequest } from '../../src/core/errors.ts'
import type { FieldOptions, StorageKind } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import { withPeople } from '../../src/core/fields/traits.ts'
import type { Field, Person } from '../../src/core/model.ts'
import { columnNameOf } from '../../src/db/column-values.ts'
import { type NamedTable, requireStoredNames } from '../../src/db/names-of-records.ts'
import type { RecordsService } from '../records/index.ts'
import type { TableModel } from '../schema/index.ts'

/** A link field filled by the names of linked records. Plain values, since they are sent to a thread. */
export interface ImportLink {
  kind: LinkOptions['kind']
  /** The linked table. */
  related: NamedTable & { tableId: string }
  /** True for a link of a table to itself: rows of the file may name each other. */
  isSelf: boolean
  kept: PairsKept | KeyKept
}

/** A junction table. */
export interface PairsKept {
  in: 'pairs'
  tableId: string
  tableName: string
  idColumn: string
  ownColumn: string
  relatedColumn: string
}

/** The parent's key in the child: in the imported record (`own`), or in the named one (`related`). */
export interface KeyKept {
  in: 'own' | 'related'
  tableId: string
  tableName: string
  idColumn: string
  keyFieldId: string
  keyColumn: string
  /** Fields for the time and author of the last change. */
  stamps: { fieldId: string; column: string; storage: StorageKind }[]
}

/** @throws BAD_REQUEST for a table of a connected database: imports write past the write door */
export function requireOwnTable({ primaryKey }: TableModel): void {
  if (primaryKey.databaseType !== null)
    throw badRequest('Files can’t be imported into a connected database. Paste the records instead.')
}

type OpenLink = Awaited<ReturnType<RecordsService['openLink']>>

/**
 * Describes how names fill a link field.
 * @param people candidates for names in a people field
 * @throws BAD_REQUEST if the linked records cannot be found by name
 */
export function toImportLink({ options, model, related, relation }: OpenLink, people: Person[]): ImportLink {
  const { displayField } = related
  const named: ImportLink['related'] = {
    tableId: related.table.id,
    table: { title: related.table.title, tableName: related.table.tableName },
    primaryKey: pick(related.primaryKey),
    displayField: {
      ...pick(displayField),
      title: displayField.title,
      options: withPeople(displayField.type, displayField.options, people) as FieldOptions,
    },
  }
  requireStoredNames(named)
  const link = { kind: options.kind, related: named, isSelf: model.table.id === related.table.id }
  if (relation.kind === 'pairs') {
    const { ownFieldId = '', relatedFieldId = '' } = options.junction ?? {}
    const { table, primaryKey } = relation.junction
    const columnOf = (fieldId: string) => relation.junction.field(fieldId)?.columnName ?? ''
    const columns = {
      idColumn: primaryKey.columnName,
      ownColumn: columnOf(ownFieldId),
      relatedColumn: columnOf(relatedFieldId),
    }
    return { ...link, kept: { in: 'pairs', tableId: table.id, tableName: table.tableName, ...columns } }
  }
  const { child, parent, parentField, key } = relation
  if (parentField.id !== parent.primaryKey.id) {
    throw badRequest(`Records of ${parent.table.title} are not linked by id and can’t be imported`)
  }
  return {
    ...link,
    kept: {
      in: options.holdsKey ? 'own' : 'related',
      tableId: child.table.id,
      tableName: child.table.tableName,
      idColumn: child.primaryKey.columnName,
      keyFieldId: key.id,
      keyColumn: key.columnName,
      stamps: stampsOf(child),
    },
  }
}

const pick = ({ type, columnName }: Field) => ({ type, columnName })

const stampsOf = ({ fields }: TableModel): KeyKept['stamps'] =>
  fields
    .filter((field) => field.isSystem && /^updated_(at|by)$/.test(columnNameOf(field)))
    .map((field) => ({
      fieldId: field.id,
      column: columnNameOf(field),
      storage: fieldType(field.type).storage,
    }))

/** Ids of the tables whose records change with the link. */
export const tablesOf = ({ related, kept }: ImportLink): string[] => [related.tableId, kept.tableId]

/** True if the link's storage and display field are unchanged since the import was started. */
export const isSameLink = (left: ImportLink, right: ImportLink): boolean =>
  JSON.stringify(withoutPeople(left)) === JSON.stringify(withoutPeople(right))

const withoutPeople = ({ related, ...link }: ImportLink) => ({
  ...link,
  related: { ...related, displayField: pick(related.displayField as Field) },
})
