import type { ImportResult } from '../../src/core/csv/import-result.ts'
import { badRequest } from '../../src/core/errors.ts'
import type { DateFormat } from '../../src/core/fields/date-text.ts'
import type { DayReading } from '../../src/core/fields/day-reading.ts'
import type { CellValue, FieldOptions, StorageKind } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { DecimalMark } from '../../src/core/fields/number-text.ts'
import { inZone, withPeople } from '../../src/core/fields/traits.ts'
import type { ConnectedColumn } from '../../src/core/imports/fit-to-column.ts'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import type { Field, Person } from '../../src/core/model.ts'
import { columnNameOf } from '../../src/db/column-values.ts'
import type { NamedTable } from '../../src/db/names-of-records.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'
import { m } from '../../src/messages.gen.ts'
import type { RecordsService } from '../records/index.ts'
import type { TableModel } from '../schema/index.ts'

/** A column of the file and its target. */
export interface ImportColumn extends DayReading {
  /** Position in the file, from 0. */
  index: number
  /** The field's title, for the report. */
  title: string
  fieldId: string
  /** Column in the database; for a link, the column of the staging table with the names. */
  column: string
  type: FieldTypeName
  options: FieldOptions
  required: boolean
  /** Value of a required field for empty cells. */
  fallback: CellValue
  /** Decimal mark of its numbers where it is not that of the file. */
  decimal?: DecimalMark
  /** Notation of its dates where it is not the format of the field. */
  dateFormat?: DateFormat
  /** True if new options are added to a select field. */
  grows: boolean
  /** Set if the cells name linked records. */
  link?: ImportLink
  /** Set for a link if names without a record create one: the defaults of the new records' other fields. */
  creates?: { constants: Constant[] }
  /** Set for the table's primary key, which finds existing records and is not written. */
  isRecordId?: true
  /** Set for a column of a connected database. */
  connected?: ConnectedColumn
  /** For a link of a connected database whose cells have rows of another import instead of names: that import's job. */
  rowsOf?: string
}

export type LinkColumn = ImportColumn & { link: ImportLink }

/** The import whose rows the cells of a column have; undefined for other cells. */
export const parentJobOf = ({ link, rowsOf }: ImportColumn): string | undefined => link?.rowsOf ?? rowsOf

export const isLinkColumn = (column: ImportColumn): column is LinkColumn => column.link !== undefined

/** Staging column with the record's number in the file. */
export const ROW_COLUMN = 'sheaf_row'

/** Staging column with the numbers of the primary key. */
export const RECORD_ID_COLUMN = 'sheaf_key'

/** Staging columns of an update; see `UpdateFinish`. */
export const UPDATE_COLUMNS = {
  /** Id of the record that the row changes or adds; null until it is known. */
  id: 'sheaf_id',
  /** A `RowState`. */
  state: 'sheaf_state',
  /** Positions of the columns whose cell was refused, as `,3,7,`: an existing record keeps their values. */
  kept: 'sheaf_kept',
} as const

/** Staging column with the names in the file's n-th column. */
export const linkColumnName = (index: number): string => `sheaf_link_${index}`

/** A staging table with the numbers of its rows as keys. */
export const stagedRows = ({ staging }: Pick<ImportPlan, 'staging'>) => ({
  table: { tableName: staging },
  primaryKey: { type: 'ID' as const, columnName: ROW_COLUMN },
})

/** Table next to a staging table that collects the links of its rows. */
export const linksTableOf = (staging: string): string => `${staging}_links`

/**
 * Columns of the links table: order in which the link was read, the file's column and row, its record, and the
 * linked record.
 */
export const LINKS_COLUMNS = ['seq', 'link', 'row', 'own', 'target'] as const

/** The worker's last step on the filled staging table. */
export type ImportFinish =
  /** Keeps its rows for the main thread. */
  | { kind: 'keep'; isUpdate: boolean }
  /** Indexes it: it becomes the new table. */
  | { kind: 'index'; columns: string[] }
  /** Moves its rows to an existing table and logs them, in one transaction. */
  | {
      kind: 'append'
      target: string
      tableId: string
      constants: Constant[]
      keyColumn: string
      orderColumn: string
      /** Columns of auto numbers: each is the record's id minus `behind`. */
      numbered: { column: string; behind: number }[]
      /** Columns with unique values. */
      unique: { column: string; title: string }[]
      /** Set if rows may change existing records. */
      update?: UpdateFinish
      /** Only counts what would happen. */
      isPreview: boolean
      /** For columns that create the linked records that they name, by their position in the plan. */
      creates: Record<number, NewRecords>
    }

/** True if an import only counts what it would do. */
export const isPreviewed = ({ finish }: Pick<ImportPlan, 'finish'>): boolean =>
  finish.kind === 'append' && finish.isPreview

/** Adds the staged rows to an existing table, or changes its records. */
export type Append = Extract<ImportFinish, { kind: 'append' }>

/** How linked records are added to their table: each has only its name. */
export interface NewRecords {
  name: ImportColumn
  finish: Append
}

/** How rows of the file find and change existing records. */
export interface UpdateFinish extends UpdateOptions {
  /** Positions of the key columns among the plan's columns. */
  keys: number[]
  /** Fields for the time and author of the last change. */
  stamps: KeyStorage['stamps']
}

/** Options of an import that updates existing records. */
export interface UpdateOptions {
  /** Whether rows change existing records, add new ones, or both. */
  mode: 'updateAndAdd' | 'update' | 'add'
  /** Whether an empty cell keeps the value of an existing record or clears it. */
  emptyCells: 'keep' | 'clear'
}

/** A value that all new records of an import have. */
export interface Constant {
  column: string
  value: CellValue
}

/** Everything the worker needs, as plain values for the other thread. */
export interface ImportPlan {
  jobId: string
  actorId: string
  path: string
  /** File for refused rows and cells, created if there are any. */
  reportPath: string
  /** File that gets the counts of the import before its rows are published, in case the process ends before they are stored. */
  countsPath?: string
  /** File that gets the record of each row, for other imports whose rows belong to these. */
  rowsPath?: string
  /** Those files of the imports that link columns refer to, by the ids of their jobs. */
  rowPathsOf?: Record<string, string>
  location: EngineLocation
  staging: string
  format: ImportFormat
  columns: ImportColumn[]
  constants: { column: string; value: CellValue }[]
  /** Columns of the file, including unselected ones; cells beyond them are reported. */
  width: number
  /** Column for the record's number in the file; in a new table, its order column. */
  rowColumn: string
  /** Number of the last row that is staged already, by a run that was interrupted; 0 for none. */
  stagedUpTo: number
  /** Limit of files per cell for fields without their own. */
  maxFiles: number
  /** Time zone of times without an offset, in `local` fields. */
  timeZone: string
  finish: ImportFinish
}

/** True if rows may change existing records. */
export const isUpdate = ({ finish }: Pick<ImportPlan, 'finish'>): boolean =>
  finish.kind === 'keep' ? finish.isUpdate : finish.kind === 'append' && finish.update !== undefined

/** The worker's result. */
export interface ImportOutcome
  extends Pick<
    ImportResult,
    | 'rows'
    | 'rowsRefused'
    | 'cellsRefused'
    | 'problems'
    | 'samples'
    | 'encoding'
    | 'changeId'
    | 'update'
    | 'links'
    | 'stopped'
  > {
  /** Linked records that were created by name, by their tables. */
  created: CreatedRecords[]
  /** Options found for select fields, by field id; null: too many, the field becomes text. */
  choices: Record<string, string[] | null>
}

/** Records that an import has created in a linked table, or would create. */
export interface CreatedRecords {
  tableId: string
  table: string
  count: number
  /** Their entry in the log; null in a preview. */
  changeId: number | null
}

/** A link field filled by the names of linked records. Plain values, since they are sent to a thread. */
export interface ImportLink {
  kind: LinkOptions['kind']
  /** The linked table. */
  related: NamedTable & { tableId: string }
  /** True for a link of a table to itself: rows of the file may name each other. */
  isSelf: boolean
  /** Set if the cells have the rows of the records in the file instead of their names: the job that imports these records. */
  rowsOf?: string
  storedIn: PairStorage | KeyStorage
}

/** A junction table. */
export interface PairStorage {
  at: 'pairs'
  tableId: string
  tableName: string
  idColumn: string
  ownColumn: string
  relatedColumn: string
  /** All columns, by field id, for the log. */
  columns: { fieldId: string; column: string; storage: StorageKind }[]
}

/** The parent's key in the child: in the imported record (`own`), or in the named one (`related`). */
export interface KeyStorage {
  at: 'own' | 'related'
  tableId: string
  tableName: string
  idColumn: string
  keyFieldId: string
  keyColumn: string
  /** True if a child needs its parent, so that it is never unlinked. */
  isRequired: boolean
  /** Fields for the time and author of the last change. */
  stamps: { fieldId: string; column: string; storage: StorageKind }[]
}

type OpenLink = Awaited<ReturnType<RecordsService['openLink']>>

/**
 * Describes how names fill a link field.
 * @param people candidates for names in a people field
 * @param timeZone of names that are a date and time; by default UTC
 * @throws BAD_REQUEST if the records are not linked by their ids
 */
export function toImportLink(
  { options, model, related, relation }: OpenLink,
  people: Person[],
  timeZone = 'UTC',
): ImportLink {
  const { displayField } = related
  const named = withPeople(displayField.type, displayField.options, people) as FieldOptions
  const records: ImportLink['related'] = {
    tableId: related.table.id,
    table: { title: related.table.title, tableName: related.table.tableName },
    primaryKey: pick(related.primaryKey),
    displayField: {
      ...pick(displayField),
      title: displayField.title,
      options: inZone(named, timeZone),
    },
  }
  const link = { kind: options.kind, related: records, isSelf: model.table.id === related.table.id }
  if (relation.kind === 'pairs') {
    const { ownFieldId = '', relatedFieldId = '' } = options.junction ?? {}
    const { table, primaryKey } = relation.junction
    const columnOf = (fieldId: string) => relation.junction.field(fieldId)?.columnName ?? ''
    const columns = {
      idColumn: primaryKey.columnName,
      ownColumn: columnOf(ownFieldId),
      relatedColumn: columnOf(relatedFieldId),
      columns: relation.junction.fields
        .filter((field) => columnNameOf(field) === field.columnName)
        .map(({ id, columnName, type }) => ({
          fieldId: id,
          column: columnName,
          storage: fieldType(type).storage,
        })),
    }
    return { ...link, storedIn: { at: 'pairs', tableId: table.id, tableName: table.tableName, ...columns } }
  }
  const { child, parent, parentField, key } = relation
  if (parentField.id !== parent.primaryKey.id) {
    throw badRequest(m.imports_error_not_linked_by_id({ table: parent.table.title }))
  }
  return {
    ...link,
    storedIn: {
      at: options.holdsKey ? 'own' : 'related',
      tableId: child.table.id,
      tableName: child.table.tableName,
      idColumn: child.primaryKey.columnName,
      keyFieldId: key.id,
      keyColumn: key.columnName,
      isRequired: key.required,
      stamps: stampsOf(child),
    },
  }
}

const pick = ({ type, columnName }: Field) => ({ type, columnName })

/** The fields of a table for the time and author of the last change. */
export const stampsOf = ({ fields }: TableModel): KeyStorage['stamps'] =>
  fields
    .filter((field) => field.isSystem && /^updated_(at|by)$/.test(columnNameOf(field)))
    .map((field) => ({
      fieldId: field.id,
      column: columnNameOf(field),
      storage: fieldType(field.type).storage,
    }))

/** Ids of the tables whose records change with the link. */
export const tablesOf = ({ related, storedIn }: ImportLink): string[] => [related.tableId, storedIn.tableId]

/** True if the link's storage and display field are unchanged since the import was started. */
export const isSameLink = (left: ImportLink, right: ImportLink): boolean =>
  // PostgreSQL stores the input of a job with its keys in another order.
  Bun.deepEquals(withoutPeople(left), withoutPeople(right))

const withoutPeople = ({ related, rowsOf: _rowsOf, ...link }: ImportLink) => ({
  ...link,
  related: { ...related, displayField: pick(related.displayField as Field) },
})
