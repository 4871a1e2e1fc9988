import type { CellValue, FieldOptions } from './fields/field-type.ts'
import type { FieldTypeName } from './fields/index.ts'
import type { Filter } from './filters/filter.ts'
import type { BaseRole, HideableRole } from './roles.ts'
import type { RowColoring } from './views/coloring.ts'
import type { FormField } from './views/form.ts'

/** The product's nouns as plain values: what services return and what the web app holds. */

export interface User {
  id: string
  email: string
  displayName: string | null
  /** Organisation roles, e.g. `['org-level-creator', 'super']`. */
  roles: string[]
}

/** Someone as shown beside a value: never more than a member may see. */
export interface Person {
  id: string
  email: string
  displayName: string | null
}

/** Someone who may open a base. */
export interface Member extends Person {
  role: BaseRole
  /** Since when, in ISO form. */
  since: string
  /** True for a role in all bases, which only administrators give and take. */
  isInAllBases: boolean
  /** True until they have signed up. */
  isInvited: boolean
  /** What they sign up with; null unless the one who asks invited them, or is a super admin. */
  inviteToken: string | null
}

/** What became of one address that was invited to a base. */
export interface MemberInvitation {
  email: string
  /** Set for people who have no account yet: the inviter can hand them the link, mailed or not. */
  inviteToken: string | null
  /** Why they were not invited; null for those who were. */
  problem: string | null
}

export interface Base {
  id: string
  title: string
  description: string | null
  /** `theme` as clients have written it: `readTheme` tells what it is worth. */
  meta: { iconColor?: string; icon?: string; theme?: unknown }
  order: number
  /** The caller's own role in this base; `owner` for a super admin. */
  role: BaseRole
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  /** For how many days deleted things and the history are kept; 0: until someone deletes them. */
  keepsDays: number
}

export interface Table {
  id: string
  baseId: string
  sourceId: string
  /** A view of the database itself is read like a table. */
  kind: 'table' | 'view'
  /** True for a table that holds the pairs of a many-to-many link; not shown unless asked for. */
  isJunction: boolean
  title: string
  /** Name in the database. It does not follow a rename. */
  tableName: string
  description: string | null
  meta: Record<string, unknown>
  order: number
  /** Grows with every change to the table's fields: caches and sockets compare it. */
  version: number
  createdAt: string
  updatedAt: string
  deletedAt: string | null
}

/**
 * What the values of a computed field are like: those of a field of this type. It filters, sorts, sums
 * up and is drawn so.
 */
export interface FieldResult {
  type: FieldTypeName
  options: FieldOptions
  /** True where one cell has any number of such values: a list as `core/fields/list-value.ts` keeps it. */
  isList: boolean
}

export interface Field {
  id: string
  tableId: string
  title: string
  columnName: string
  type: FieldTypeName
  options: FieldOptions
  description: string | null
  required: boolean
  unique: boolean
  defaultValue: CellValue
  order: number
  /** The one field that names a record; exactly one per table. */
  isDisplay: boolean
  isPrimaryKey: boolean
  /** Made by the product for its own use (created_at, nc_order, …); hidden unless asked for. */
  isSystem: boolean
  /** The column's type in a database that is not ours, e.g. `numeric(10,2)`; null in tables of our own. */
  databaseType: string | null
  /** Why nobody may write it, in words: a generated column, a type that cannot be edited; null: one may. */
  readOnlyReason: string | null
  /** What a computed field gives; null for a field with values of its own, and for a computed one that is broken. */
  result: FieldResult | null
  /** Why a computed field gives nothing: `Column 'Price' was deleted`; else null. */
  error: string | null
}

/** Numeric kinds of spec §3; calendar is 6. */
export type ViewKind = 'form' | 'gallery' | 'grid' | 'kanban' | 'map' | 'calendar'

export type RowHeight = 'short' | 'medium' | 'tall' | 'extra'

export interface ViewField {
  fieldId: string
  show: boolean
  order: number
  /** Pixels. */
  width: number
  /** Name of the footer's summary for this column, or null. */
  summary: string | null
  /** What a form says of it; null where it says nothing yet, and in views of other kinds. */
  form: FormField | null
}

export interface Sort {
  /** Its id for REST clients, kept where a view stores the sort. */
  id?: string
  fieldId: string
  direction: 'asc' | 'desc'
}

/** Most levels that a view can be grouped by. */
export const MAX_GROUPS = 3

export interface View {
  id: string
  tableId: string
  title: string
  description: string | null
  kind: ViewKind
  isDefault: boolean
  order: number
  /**
   * Who may change how it is set up: everyone whose role may (`collaborative`), nobody until it is unlocked
   * (`locked`), or its owner alone (`personal`).
   */
  lock: 'collaborative' | 'locked' | 'personal'
  /** Whose it is: that person may change it where it is personal. Null: made by nobody in particular. */
  ownerId: string | null
  meta: Record<string, unknown>
  rowHeight: RowHeight
  /** How many of the first shown columns stay in place while the rest scroll; at least 1. */
  frozen: number
  fields: ViewField[]
  filter: Filter | null
  sorts: Sort[]
  /** What its records are grouped by, the outermost first: `MAX_GROUPS` at most. */
  groups: Sort[]
  coloring: RowColoring | null
  /** What its kind keeps (`core/views`); read it by `optionsOf(view, kind)`. */
  options: object
  /** The roles in whose list of views it does not stand; never of a table's default view. */
  hiddenFrom: HideableRole[]
  /** True while a public link to it is open. */
  isShared: boolean
}

/** A table as the browser opens it: everything to draw a view but its records. */
export interface TableSchema {
  table: Table
  fields: Field[]
  views: View[]
  /** Why nobody may write its records, in words: a view of a connected database, a source kept as it is; else null. */
  readOnlyReason: string | null
}

export type RecordId = number | string

/**
 * Records in columns' order: `rows[i][j]` is the value of `fieldIds[j]` in record `ids[i]`.
 * Arrays and not objects: a page of 100 rows × 50 fields is a third of the size, and cheaper to make.
 */
export interface RecordPage {
  fieldIds: string[]
  ids: RecordId[]
  rows: CellValue[][]
  /** Where the page starts among all that match. */
  offset: number
}
