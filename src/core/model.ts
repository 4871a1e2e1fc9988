import type { Field } from './fields/field.ts'
import type { CellValue } from './fields/field-type.ts'
import type { Person } from './fields/people.ts'
import type { Filter } from './filters/filter.ts'
import type { RecordId } from './ids.ts'
import type { BaseRole, HideableRole } from './roles.ts'
import type { RowColoring } from './views/coloring.ts'
import type { FormField } from './views/form.ts'
import type { ViewKind } from './views/view-kind.ts'

/**
 * The product's nouns as plain values: what services return and what the web app holds. Files of `src/core` that lie
 * below this one import the types that it re-exports from where they are defined.
 */

export type { Field, FieldResult } from './fields/field.ts'
export type { Person } from './fields/people.ts'
export type { RecordId } from './ids.ts'
export type { ViewKind } from './views/view-kind.ts'

export interface User {
  id: string
  email: string
  displayName: string | null
  /** Organisation roles, e.g. `['org-level-creator', 'super']`. */
  roles: string[]
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
